const form = document.querySelector("#product");
const result = document.querySelector("#result");

const RULES = {
  name: (value) => value.trim() !== "" && value.length <= 100,
  price: (value) => /^\d{1,5}(?:\.\d{1,2})?$/.test(value),
  sku: (value) => /^[A-Z]{3}-[0-9]{4,6}$/.test(value),
  category: (value) => ["audio", "garden", "kitchen", "office"].includes(value),
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = Object.fromEntries(new FormData(form));
  const broken = Object.keys(RULES).filter((field) => !RULES[field](fields[field]));
  if (broken.length > 0) {
    result.value = `Please correct: ${broken.join(", ")}`;
    return;
  }
  const answer = await fetch("/products", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...fields, price: Number(fields.price) }),
  });
  result.value = answer.ok ? "Added." : "Not added.";
});

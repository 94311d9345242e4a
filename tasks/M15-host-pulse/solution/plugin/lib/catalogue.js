/** Providers with the number of their models, and the IDs of those whose catalogue could not be read. */
export async function readCatalogue(llm) {
  const known = llm.listProviders();
  // The service rejects for a provider that cannot list its models; one such provider must not spoil the rest.
  const catalogues = await Promise.allSettled(known.map(({ id }) => llm.listModels(id)));
  const providers = [];
  const unreachable = [];
  known.forEach(({ id, name }, index) => {
    const { status, value } = catalogues[index];
    if (status === "fulfilled") providers.push({ id, name, models: value.length });
    else unreachable.push(id);
  });
  return { providers, unreachable };
}

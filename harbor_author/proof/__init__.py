"""Trials in containers, the verdict over them, and the receipt that keeps it.

`oracle_check` proves tasks; `check_receipt` tells whether an earlier proof still holds.
"""

from __future__ import annotations

from harbor_author.proof.causes import CAUSES, Cause
from harbor_author.proof.errors import ProofError, TaskRefusedError
from harbor_author.proof.receipts import Currency, Receipt, check_receipt, read_receipt
from harbor_author.proof.verdict import Trial
from harbor_author.proof.workflow import Options, ProofResult, oracle_check

__all__ = [
    "CAUSES",
    "Cause",
    "Currency",
    "Options",
    "ProofError",
    "ProofResult",
    "Receipt",
    "TaskRefusedError",
    "Trial",
    "check_receipt",
    "oracle_check",
    "read_receipt",
]

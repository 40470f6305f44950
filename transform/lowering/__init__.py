"""Lowering: from core to loops over numbers, the language that machines are told."""

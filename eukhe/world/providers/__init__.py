"""Who writes lines and answers turns: models by provider."""

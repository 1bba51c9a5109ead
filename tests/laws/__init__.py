"""The laws of the memory, a file a law, named as the law. Their words are in words.py, histories in history.py."""

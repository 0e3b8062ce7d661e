"""Translation methods: ``registry.build`` makes one from its name and ``options.MethodOptions``."""

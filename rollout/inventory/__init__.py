"""Inventories as Ansible reads them: loaders, host patterns, the precedence of variables, and the way to `Host`."""

package v1alpha1

// Default applies the schema defaults, except for connection settings, to configurations that did not pass through an API server.
func (c *ProviderConfigSpec) Default() {
	if c.Git.Branch == "" {
		c.Git.Branch = "main"
	}
	if c.Policy.PlainSecrets == "" {
		c.Policy.PlainSecrets = PlainSecretsDeny
	}
	if c.Policy.UnknownFields == "" {
		c.Policy.UnknownFields = UnknownFieldsDeny
	}
	if c.Policy.MaxSites == nil {
		c.Policy.MaxSites = new(int32(defaultMaxSites))
	}
}

const defaultMaxSites = 100

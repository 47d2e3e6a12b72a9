package v1alpha1

// Default fills in what the schema would of all that is not about reaching the repository, for configurations that did not pass
// through an API server.
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

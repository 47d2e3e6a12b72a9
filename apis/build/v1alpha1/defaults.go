package v1alpha1

import "cmp"

const (
	// DefaultInterval is the default interval between observations of a repository.
	DefaultInterval = "5m"

	// DefaultTimeout is the time limit of a build.
	DefaultTimeout = "30m"

	// DefaultTokenKey is the key of a webhook's token.
	DefaultTokenKey = "token"

	// KindClusterBuilder is the kind of a builder that all namespaces use.
	KindClusterBuilder = "ClusterBuilder"

	// KindBuilder is the kind of a builder of one namespace.
	KindBuilder = "Builder"
)

// Default applies the schema defaults.
func (s *Source) Default() {
	s.Interval = cmp.Or(s.Interval, DefaultInterval)
	if s.Webhook != nil {
		s.Webhook.SecretRef.Key = cmp.Or(s.Webhook.SecretRef.Key, DefaultTokenKey)
	}
}

// Default applies the schema defaults.
func (b *BuilderReference) Default() { b.Kind = cmp.Or(b.Kind, KindClusterBuilder) }

// Default applies the schema defaults.
func (s *Settings) Default() {
	if s.Builder != nil {
		s.Builder.Default()
	}
	s.Timeout = cmp.Or(s.Timeout, DefaultTimeout)
	if s.Retries == nil {
		s.Retries = new(int32(1))
	}
}

// Default applies the schema defaults to parameters that did not pass through an API server.
func (p *ImageBuildParameters) Default() {
	p.Source.Default()
	p.Settings.Default()
}

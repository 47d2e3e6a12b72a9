package digest

import (
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// BuildRequest returns the digest of the inputs of an image: its source, and its build settings. The interval, the webhook and the Secret of the source,
// and the number of retries do not count. A field that equals its schema default counts as absent. It returns an error when the inputs cannot be encoded.
func BuildRequest(p *buildv1alpha1.ImageBuildParameters) (string, error) {
	p = &buildv1alpha1.ImageBuildParameters{Source: *p.Source.DeepCopy(), Settings: *p.Settings.DeepCopy()}
	p.Source.Interval, p.Source.Webhook, p.Retries = "", nil, nil
	if p.Source.Git != nil {
		p.Source.Git.SecretRef = nil
	}
	return Of(withDefaults(p, &buildv1alpha1.ImageBuildParameters{}))
}

// BuildSource returns the digest of a repository and a revision of it. It is the same for all requests that resolve to the same commit. It returns
// an error when the source cannot be encoded.
func BuildSource(s *buildv1alpha1.Source) (string, error) {
	if s.Git == nil {
		return Of(s.Blob, nil)
	}
	return Of([]string{s.Git.URL, s.Git.Revision}, nil)
}

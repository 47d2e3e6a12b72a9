package digest

import (
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// BuildRequest returns the digest of what makes an image: its source, and how that is built. When the repository is looked at, with which Secret, and how
// often a build is tried again do not count. Fields that the schema would have filled in count as if it had. It returns an error when that cannot be
// encoded.
func BuildRequest(p *buildv1alpha1.ImageBuildParameters) (string, error) {
	p = &buildv1alpha1.ImageBuildParameters{Source: *p.Source.DeepCopy(), Settings: *p.Settings.DeepCopy()}
	p.Source.Interval, p.Source.Webhook, p.Retries = "", nil, nil
	if p.Source.Git != nil {
		p.Source.Git.SecretRef = nil
	}
	return Of(withDefaults(p, &buildv1alpha1.ImageBuildParameters{}))
}

// BuildSource returns the digest of a repository and a revision of it. It is the same for all who would find the same commit. It returns an error when that
// cannot be encoded.
func BuildSource(s *buildv1alpha1.Source) (string, error) {
	if s.Git == nil {
		return Of(s.Blob, nil)
	}
	return Of([]string{s.Git.URL, s.Git.Revision}, nil)
}

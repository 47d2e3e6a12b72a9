package policy

import (
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// CheckBuild returns an error when a configuration does not allow a build. The block is nil in a configuration that allows none.
func CheckBuild(c *configv1alpha1.Build, p *buildv1alpha1.ImageBuildParameters) error {
	if c == nil {
		return errors.New("spec.build of the configuration is absent: it builds no images")
	}
	host, err := SourceHost(&p.Source)
	if err != nil {
		return err
	}
	if len(c.SourceHosts) > 0 && !slices.ContainsFunc(c.SourceHosts, func(pattern string) bool { return matchesHost(pattern, host) }) {
		return errors.New("spec.build.sourceHosts of the configuration does not allow the host of the source")
	}
	if err := checkAmount("cpu", string(p.Resources.CPU), string(c.MaxResources.CPU)); err != nil {
		return err
	}
	return checkAmount("memory", string(p.Resources.Memory), string(c.MaxResources.Memory))
}

// SourceHost returns the host of a source. It returns an error for a URL that is none of a repository or an archive, without the URL in it.
func SourceHost(s *buildv1alpha1.Source) (string, error) {
	if s.Git != nil {
		u, err := ParseRepositoryURL(s.Git.URL)
		if err == nil && !isPlainHost(u.Host) {
			err = errors.New("repository URL has a host with other characters than letters, digits, '.' and '-'")
		}
		return u.Host, errors.Wrap(err, "source.git.url")
	}
	if s.Blob == nil {
		return "", errors.New("source: one of git and blob must be set")
	}
	u, err := url.Parse(s.Blob.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !isPlainHost(normalizeHost(u.Hostname())) {
		return "", errors.New("source.blob.url: it must be an https or http URL without credentials, query and fragment")
	}
	return normalizeHost(u.Hostname()), nil
}

// isPlainHost reports whether a host is a name or an address, and no pattern.
func isPlainHost(host string) bool {
	return host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:") == ""
}

// matchesHost reports whether a host equals a pattern, or is below its domain.
func matchesHost(pattern, host string) bool {
	if domain, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+normalizeHost(domain))
	}
	return normalizeHost(pattern) == host
}

func checkAmount(name, requested, limit string) error {
	if requested == "" || limit == "" {
		return nil
	}
	a, err := resource.ParseQuantity(requested)
	if err != nil {
		return errors.Errorf("resources.%s: it must be a quantity", name)
	}
	m, err := resource.ParseQuantity(limit)
	if err != nil {
		return errors.Errorf("spec.build.maxResources.%s of the configuration must be a quantity", name)
	}
	if a.Cmp(m) > 0 {
		return errors.Errorf("resources.%s: the configuration allows at most %s", name, m.String())
	}
	return nil
}

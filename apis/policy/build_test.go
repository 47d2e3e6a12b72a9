package policy

import (
	"strings"
	"testing"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

func TestCheckBuild(t *testing.T) {
	git := func(url string) buildv1alpha1.ImageBuildParameters {
		return buildv1alpha1.ImageBuildParameters{Source: buildv1alpha1.Source{Git: &buildv1alpha1.GitSource{URL: url, Revision: "main"}}}
	}
	blob := func(url string) buildv1alpha1.ImageBuildParameters {
		return buildv1alpha1.ImageBuildParameters{Source: buildv1alpha1.Source{Blob: &buildv1alpha1.BlobSource{URL: url}}}
	}
	asks := func(cpu buildv1alpha1.CPU, memory buildv1alpha1.Memory) buildv1alpha1.ImageBuildParameters {
		p := git("https://git.example.org/shop.git")
		p.Resources = buildv1alpha1.Resources{CPU: cpu, Memory: memory}
		return p
	}
	limits := &configv1alpha1.Build{
		Registry: "registry.example.org", SourceHosts: []string{"git.example.org", "*.files.example.org"},
		MaxResources: buildv1alpha1.Resources{CPU: "2", Memory: "4Gi"},
	}
	cases := map[string]struct {
		reason string
		config *configv1alpha1.Build
		build  buildv1alpha1.ImageBuildParameters
		want   string
	}{
		"None": {
			reason: "A configuration without the block builds nothing.",
			build:  git("https://git.example.org/shop.git"), want: "spec.build of the configuration is absent",
		},
		"Host":   {reason: "A host that is named is allowed.", config: limits, build: git("https://Git.Example.org:8443/shop.git")},
		"Below":  {reason: "A host below a domain is allowed.", config: limits, build: blob("https://a.files.example.org/shop.tgz")},
		"Domain": {reason: "The domain itself is not below it.", config: limits, build: blob("https://files.example.org/shop.tgz"), want: "sourceHosts"},
		"Suffix": {
			reason: "Another domain with the same end is another one.",
			config: limits, build: git("https://evilfiles.example.org/shop.git"), want: "sourceHosts",
		},
		"SSH": {
			reason: "The host of an address as scp takes it is checked.",
			config: limits, build: git("git@other.example.org:shop.git"), want: "sourceHosts",
		},
		"Any": {reason: "Without hosts each one is allowed.", config: &configv1alpha1.Build{}, build: git("https://else.example.org/shop.git")},
		"Backtick": {
			reason: "A host with a backtick is refused.",
			config: &configv1alpha1.Build{}, build: git("https://a`b.example.org/shop.git"), want: "source.git.url",
		},
		"Wildcard": {
			reason: "A host with a wildcard is refused.",
			config: &configv1alpha1.Build{}, build: git("https://*.example.org/shop.git"), want: "source.git.url",
		},
		"Password": {
			reason: "Credentials in a URL are refused.",
			config: &configv1alpha1.Build{}, build: blob("https://me:canary@files.example.org/x.tgz"), want: "source.blob.url",
		},
		"File": {reason: "A file is not an archive of a server.", config: &configv1alpha1.Build{}, build: blob("file:///etc/passwd"), want: "source.blob.url"},
		"Query": {
			reason: "A query may hold a credential.",
			config: &configv1alpha1.Build{}, build: blob("https://files.example.org/x.tgz?token=canary"), want: "source.blob.url",
		},
		"Neither": {reason: "A build needs a source.", config: &configv1alpha1.Build{}, want: "one of git and blob"},
		"CPU": {
			reason: "More processors than allowed are refused.",
			config: limits, build: asks("2001m", ""), want: "resources.cpu: the configuration allows at most 2",
		},
		"Memory": {
			reason: "More memory than allowed is refused.",
			config: limits, build: asks("2", "4097Mi"), want: "resources.memory: the configuration allows at most 4Gi",
		},
		"AtLimit":   {reason: "As much as is allowed is allowed, however it is written.", config: limits, build: asks("2000m", "4096Mi")},
		"NotAnyNum": {reason: "An amount has to be one.", config: limits, build: asks("many", ""), want: "it must be a quantity"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := CheckBuild(tc.config, &tc.build)
			if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "canary")) {
				t.Errorf("\n%s\nCheckBuild(...): %v, want %q in it", tc.reason, err, tc.want)
			}
		})
	}
}

package containerimage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	sha256 := "sha256:" + strings.Repeat("a1", 32)
	sha384 := "sha384:" + strings.Repeat("b2", 48)
	sha512 := "sha512:" + strings.Repeat("c3", 64)
	cases := map[string]struct {
		reason string
		text   string
		want   Reference
	}{
		"Short": {
			reason: "A name without a registry is one of Docker Hub's own images.",
			text:   "nginx", want: Reference{Name: "nginx", Repository: "docker.io/library/nginx"},
		},
		"OneLetter": {reason: "A name of one character is valid.", text: "x", want: Reference{Name: "x", Repository: "docker.io/library/x"}},
		"OneLetterPath": {
			reason: "The last part of a path may have one character.",
			text:   "registry.example.org/x:1.0", want: Reference{Name: "registry.example.org/x", Repository: "registry.example.org/x", Tag: "1.0"},
		},
		"User": {
			reason: "A first part without a period or a port is not a registry.",
			text:   "team/app:2", want: Reference{Name: "team/app", Repository: "docker.io/team/app", Tag: "2"},
		},
		"Registry": {
			reason: "The first part with a period is a registry.",
			text:   "ghcr.io/team/app", want: Reference{Name: "ghcr.io/team/app", Repository: "ghcr.io/team/app"},
		},
		"Port": {
			reason: "A port of a registry is not a tag.",
			text:   "registry:5000/app", want: Reference{Name: "registry:5000/app", Repository: "registry:5000/app"},
		},
		"PortAndTag": {
			reason: "A tag stands behind the last part.",
			text:   "registry:5000/app:1", want: Reference{Name: "registry:5000/app", Repository: "registry:5000/app", Tag: "1"},
		},
		"Localhost": {
			reason: "The name localhost is a registry.",
			text:   "localhost/app:1", want: Reference{Name: "localhost/app", Repository: "localhost/app", Tag: "1"},
		},
		"IPv6": {
			reason: "A registry may be an IPv6 address in brackets.",
			text:   "[fd00::1]:5000/app:1", want: Reference{Name: "[fd00::1]:5000/app", Repository: "[fd00::1]:5000/app", Tag: "1"},
		},
		"UpperRegistry": {
			reason: "A registry may have capital letters, as hosts may.",
			text:   "Registry.example.org/app", want: Reference{Name: "Registry.example.org/app", Repository: "Registry.example.org/app"},
		},
		"Index": {
			reason: "Docker Hub has two names.",
			text:   "index.docker.io/library/nginx:1",
			want:   Reference{Name: "index.docker.io/library/nginx", Repository: "docker.io/library/nginx", Tag: "1"},
		},
		"Underscores": {
			reason: "Two underscores and many hyphens separate words of a path.",
			text:   "a__b/c---d", want: Reference{Name: "a__b/c---d", Repository: "docker.io/a__b/c---d"},
		},
		"LongTag": {
			reason: "A tag has up to 128 characters.",
			text:   "app:" + strings.Repeat("t", 128),
			want:   Reference{Name: "app", Repository: "docker.io/library/app", Tag: strings.Repeat("t", 128)},
		},
		"UpperTag": {
			reason: "A tag may have capital letters.",
			text:   "app:V1_x", want: Reference{Name: "app", Repository: "docker.io/library/app", Tag: "V1_x"},
		},
		"Digest": {
			reason: "A digest takes the place of a tag.",
			text:   "app@" + sha256, want: Reference{Name: "app", Repository: "docker.io/library/app", Digest: sha256},
		},
		"TagAndDigest": {
			reason: "A reference may have both.",
			text:   "app:1@" + sha256, want: Reference{Name: "app", Repository: "docker.io/library/app", Tag: "1", Digest: sha256},
		},
		"SHA384": {
			reason: "Runtimes know digests of SHA-384.",
			text:   "app@" + sha384, want: Reference{Name: "app", Repository: "docker.io/library/app", Digest: sha384},
		},
		"SHA512": {
			reason: "Runtimes know digests of SHA-512.",
			text:   "app@" + sha512, want: Reference{Name: "app", Repository: "docker.io/library/app", Digest: sha512},
		},

		"HubName": {reason: "Docker Hub may be named.", text: "docker.io/nginx", want: Reference{Name: "docker.io/nginx", Repository: "docker.io/library/nginx"}},
		"IPv4": {
			reason: "A registry may be an IPv4 address.",
			text:   "127.0.0.1:5000/app:1", want: Reference{Name: "127.0.0.1:5000/app", Repository: "127.0.0.1:5000/app", Tag: "1"},
		},
		"IPv6Plain": {reason: "An IPv6 address needs no port.", text: "[fd00::1]/app", want: Reference{Name: "[fd00::1]/app", Repository: "[fd00::1]/app"}},
		"UpperFirst": {
			reason: "A first part with a capital letter is a registry, since no path has one.", text: "Team/app:1",
			want: Reference{Name: "Team/app", Repository: "Team/app", Tag: "1"},
		},
		"Everything": {
			reason: "A port, a tag and a digest may stand together.", text: "registry.example.org:5000/team/app:1.0@" + sha256,
			want: Reference{
				Name: "registry.example.org:5000/team/app", Repository: "registry.example.org:5000/team/app", Tag: "1.0", Digest: sha256,
			},
		},
		"TagLikePort": {
			reason: "A number behind a name is a tag, and not a port.",
			text:   "app:5000", want: Reference{Name: "app", Repository: "docker.io/library/app", Tag: "5000"},
		},

		"UpperDigest":    {reason: "A digest has small letters.", text: "app@sha256:" + strings.Repeat("A1", 32)},
		"WordPort":       {reason: "A port is a number.", text: "registry:port/app"},
		"UnderscoreHost": {reason: "A host has no underscore.", text: "my_registry:5000/app"},
		"RootedHost":     {reason: "A host does not end with a period.", text: "registry.example.org.:5000/app"},
		"TwoDigests":     {reason: "A reference has one digest.", text: "app@" + sha256 + "@" + sha256},
		"DigestFirst":    {reason: "A tag does not stand behind a digest.", text: "app@" + sha256 + ":1"},
		"Query":          {reason: "A reference has no query.", text: "registry.example.org/app?tag=1"},
		"Credentials":    {reason: "A reference has no user.", text: "joe:pw@registry.example.org/app:1"},
		"Unicode":        {reason: "A path has letters of ASCII.", text: "team/\u0430pp:1"},
		"Empty":          {reason: "An empty text is not a reference."},
		"HTTPS":          {reason: "A URL is not a reference.", text: "https://registry.example.org/team/shop:1.0"},
		"EmptyPart":      {reason: "A path has no empty part.", text: "registry.example.org/team//shop:1.0"},
		"Docker":         {reason: "A reference has no transport of other tools.", text: "docker://nginx:1"},
		"OCI":            {reason: "A reference has no scheme of OCI artifacts.", text: "oci://ghcr.io/team/app:1"},
		"Absolute":       {reason: "A path does not begin with a slash.", text: "/app:1"},
		"Trailing":       {reason: "A path does not end with a slash.", text: "team/app/"},
		"Dots":           {reason: "Two periods separate no words of a path.", text: "a..b"},
		"Upper":          {reason: "A path has no capital letters.", text: "team/App:1"},
		"UpperShort":     {reason: "A name without a registry has no capital letters.", text: "App"},
		"Space":          {reason: "A reference has no white space.", text: "app :1"},
		"Newline":        {reason: "A reference has no line break at its end.", text: "app:1\n"},
		"EmptyTag":       {reason: "A colon needs a tag behind it.", text: "app:"},
		"TwoTags":        {reason: "A reference has one tag.", text: "app:1:2"},
		"LongerTag":      {reason: "A tag of 129 characters is too long.", text: "app:" + strings.Repeat("t", 129)},
		"HyphenTag":      {reason: "A tag does not begin with a hyphen.", text: "app:-1"},
		"EmptyDigest":    {reason: "An @ needs a digest behind it.", text: "app@"},
		"ShortDigest":    {reason: "A digest has all of its digits.", text: "app@sha256:a1"},
		"OtherDigest":    {reason: "A digest that no runtime can verify is none.", text: "app@md5:" + strings.Repeat("a1", 16)},
		"ID":             {reason: "The ID of an image on a node is not a reference.", text: strings.Repeat("a1", 32)},
		"Variable":       {reason: "A variable is not a reference.", text: "${IMAGE}"},
		"LongName":       {reason: "A name has up to 255 characters.", text: "ghcr.io/" + strings.Repeat("n", 256)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.want != Reference{}) {
				t.Errorf("\n%s\nParse(%q): %v, -want, +got:\n%s", tc.reason, tc.text, err, diff)
			}
		})
	}
}

func TestPulledTag(t *testing.T) {
	cases := map[string]struct {
		reason string
		tag    string
		want   string
	}{
		"Tag":  {reason: "A tag is pulled as it is written.", tag: "1.2.0", want: "1.2.0"},
		"None": {reason: "Without a tag, runtimes pull the default one.", want: DefaultTag},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Reference{Tag: tc.tag}.PulledTag()); diff != "" {
				t.Errorf("\n%s\nPulledTag(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

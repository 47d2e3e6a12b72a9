package applications

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/scene"
)

// TestRefusedSpecs shows bad input to the API server.
func TestRefusedSpecs(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp)}
	cases := map[string]struct{ reason, spec, want string }{
		"NoImage": {reason: "An image is required.", spec: `{"image": ""}`, want: "spec.image"},
		"Neither": {reason: "An Application without an image and a source has nothing to run.", spec: `{"image": null}`, want: "exactly one of image and source"},
		"Both": {
			reason: "An image and a source exclude each other.",
			spec:   `{"source": {"git": {"url": "https://git.example.org/a.git", "revision": "main"}}}`, want: "exactly one of image and source",
		},
		"TwoKinds": {
			reason: "A source is a repository or an archive.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "main", `, "blob": {"url": "https://git.example.org/a.tgz"}`),
			want:   "exactly one of git and blob",
		},
		"BuildOfNone": {reason: "Without a source nothing is built.", spec: `{"build": {"retries": 1}}`, want: "build needs source"},
		"Option": {
			reason: "A revision that a tool takes for an option is refused.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "--upload-pack=x", ""), want: "spec.source.git.revision",
		},
		"Up": {
			reason: "A revision that leads to a directory above is refused.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "../x", ""), want: "spec.source.git.revision",
		},
		"NoRevision": {reason: "An empty revision is refused.", spec: gitSourceSpec("https://git.example.org/a.git", "", ""), want: "spec.source.git.revision"},
		"Password": {
			reason: "A URL with credentials is refused.",
			spec:   gitSourceSpec("https://me:canary@git.example.org/a.git", "main", ""), want: "without credentials",
		},
		"File": {
			reason: "A file is not a repository of a server.",
			spec:   gitSourceSpec("file:///etc/passwd", "main", ""), want: "must be an https, http or ssh URL",
		},
		"Ext": {reason: "A URL that runs a command is refused.", spec: gitSourceSpec("ext::sh -c id", "main", ""), want: "must be an https, http or ssh URL"},
		"BlobFile": {
			reason: "A file is not an archive of a server.",
			spec:   `{"image": null, "source": {"blob": {"url": "file:///etc/passwd"}}}`, want: "must be an https or http URL",
		},
		"BuildCPU": {
			reason: "A step of a build asks for at most 256 processors.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "main", "", `"resources": {"cpu": "257"}`), want: "at most 256",
		},
		"TooSoon": {reason: "Pods have at least 15 seconds to become available.", spec: `{"deploy": {"progressTimeout": "5s"}}`, want: "must be from 15s to 24h"},
		"TooLate": {reason: "Pods have at most a day to become available.", spec: `{"deploy": {"progressTimeout": "25h"}}`, want: "must be from 15s to 24h"},
		"NoTime":  {reason: "A progressTimeout is a duration.", spec: `{"deploy": {"progressTimeout": "soon"}}`, want: "spec.deploy.progressTimeout"},
		"NoBlock": {
			reason: "A check of pods has its block.",
			spec:   `{"deploy": {"gatesConfig": {"checks": [{"name": "a", "type": "Availability"}]}}}`,
			want:   "availability must be set with type Availability",
		},
		"NoPods": {
			reason: "A check of pods wants at least one.",
			spec:   `{"deploy": {"gatesConfig": {"checks": [{"name": "a", "type": "Availability", "availability": {"minAvailable": 0}}]}}}`,
			want:   "availability.minAvailable",
		},
		"ImageSpace": {reason: "A text with a space is not an image.", spec: `{"image": "a b"}`, want: "reference of an image"},
		"Backtick":   {reason: "A host with a backtick is refused.", spec: "{\"route\": {\"host\": \"a`b.example.org\"}}", want: "name of one host"},
		"Wildcard":   {reason: "A host with a wildcard is refused.", spec: `{"route": {"host": "*.example.org"}}`, want: "name of one host"},
		"SameName":   {reason: "A variable stands in env once.", spec: `{"env": [{"name": "A"}, {"name": "A"}]}`, want: "duplicate entries"},
		"NoName":     {reason: "A variable has a name of letters, digits and underscores.", spec: `{"env": [{"name": "a-b"}]}`, want: "environment variable"},
		"TooMany":    {reason: "There are at most 64 variables.", spec: fmt.Sprintf(`{"env": [%s]}`, variablesOf(65)), want: "64"},
		"NoValue": {
			reason: "A variable of a build whose Secret reference a client drops does not become an empty variable.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "main", "", `"env": [{"name": "A"}]`), want: "spec.build.env[0].value",
		},
		"TwoSources": {
			reason: "A variable has a value or a reference.",
			spec:   `{"env": [{"name": "A", "value": "1", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}`, want: "exclude each other",
		},
		"Elsewhere": {
			reason: "A Secret of another namespace cannot be named.",
			spec:   `{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "team-b/db", "key": "b"}}}]}`, want: "name of an object",
		},
		"CPU":         {reason: "A pod asks for at most 256 processors.", spec: `{"resources": {"cpu": "257"}}`, want: "at most 256"},
		"Memory":      {reason: "A pod asks for at most 4Ti.", spec: `{"resources": {"memory": "5Ti"}}`, want: "at most 4Ti"},
		"Scaled":      {reason: "An autoscaler rules the replicas alone.", spec: `{"replicas": 2, "autoscaling": {"max": 3}}`, want: "autoscaling excludes replicas"},
		"MinMax":      {reason: "The smallest number is not above the greatest.", spec: `{"autoscaling": {"min": 4, "max": 3}}`, want: "min must not be greater"},
		"RouteParam":  {reason: "The parameters of a route are not set twice.", spec: `{"deploy": {"parameters": {"host": "a"}}}`, want: "are set by spec.route"},
		"BindingPath": {reason: "A path is not a service.", spec: `{"services": [{"name": "../x", "secretRef": {"name": "a"}}]}`, want: "lower-case letters"},
	}
	for _, apiVersion := range []string{claims, namespaced} {
		for name, tc := range cases {
			t.Run(apiVersion[:6]+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := s.newApplication(apiVersion)
				spec := map[string]any{}
				if err := json.Unmarshal([]byte(tc.spec), &spec); err != nil {
					t.Fatal(err)
				}
				for key, value := range spec {
					s.Set(o, value, "spec", key)
					if value == nil {
						unstructured.RemoveNestedField(o.Object, "spec", key)
					}
				}
				if got := s.Refused(o); !strings.Contains(got, tc.want) {
					t.Errorf("\n%s\nthe API server says: %s", tc.reason, got)
				}
			})
		}
	}
	long := s.newApplication(namespaced)
	long.SetName(strings.Repeat("a", 53))
	if got := s.Refused(long); !strings.Contains(got, "52") {
		t.Errorf("a name of 53 characters: %s", got)
	}
}

// TestTagIsTaken has an image without a digest: it is delivered, and condition Valid says that its tag may move.
func TestTagIsTaken(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, claims)
	s.Apply(s.Set(s.app, "registry.example.org/team/shop:1.4", "spec", "image"))
	u := s.awaitCondition("Deployed", "True", "Deployed")
	if valid := scene.Condition(u, "Valid"); valid.Status != "True" || !strings.Contains(valid.Message, "spec.image has no digest") {
		t.Errorf("condition Valid of an image without a digest: %+v", valid)
	}
	if text := s.deploymentInGit(); !strings.Contains(text, "registry.example.org/team/shop:1.4") {
		t.Errorf("the image is not in Git:\n%s", text)
	}
}

// TestUnknownFields sends fields to the API server that would lead to objects of another tenant, with strict validation: the API does not
// have these fields.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp)}
	cases := map[string]struct{ reason, spec, want string }{
		"BuildSecret": {
			reason: "A variable of a build has no value of a Secret, which kpack refuses.",
			spec: gitSourceSpec(
				"https://git.example.org/a.git", "main", "", `"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]`,
			),
			want: "spec.build.env[0].valueFrom",
		},
		"BuilderNamespace": {
			reason: "A builder of another namespace cannot be named.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "main", "", `"builder": {"kind": "Builder", "name": "a", "namespace": "team-b"}`),
			want:   "spec.build.builder.namespace",
		},
		"Registry": {
			reason: "Only the configuration says where images go.",
			spec:   gitSourceSpec("https://git.example.org/a.git", "main", "", `"registry": "registry.example.org/evil"`), want: "spec.build.registry",
		},
		"SourceCredentials": {
			reason: "The Secret of a source is one of the namespace.",
			spec: strings.Replace(
				gitSourceSpec("https://git.example.org/a.git", "main", ""), `"main"`, `"main", "secretRef": {"name": "a", "namespace": "team-b"}`, 1,
			),
			want: "spec.source.git.secretRef.namespace",
		},
		"ServiceSecret": {
			reason: "The Secret of an attached service is one of the namespace.",
			spec:   `{"services": [{"name": "db", "secretRef": {"name": "a", "namespace": "team-b"}}]}`, want: "spec.services[0].secretRef.namespace",
		},
		"PullSecret": {
			reason: "A Secret that an image is pulled with is one of the namespace.",
			spec:   `{"imagePullSecrets": [{"name": "a", "namespace": "team-b"}]}`, want: "spec.imagePullSecrets[0].namespace",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, spec := s.newApplication(namespaced), map[string]any{}
			if err := json.Unmarshal([]byte(tc.spec), &spec); err != nil {
				t.Fatal(err)
			}
			for key, value := range spec {
				s.Set(o, value, "spec", key)
			}
			text, err := yaml.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "application.yaml")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = s.Kubectl(t.Context(), "apply", "--dry-run=server", "--validate=strict", "-f", file)
			if err == nil || !strings.Contains(err.Error(), "unknown field \""+tc.want+"\"") {
				t.Errorf("\n%s\nkubectl apply: want an unknown field %s, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

package applications

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRefused shows bad input to the API server.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp)}
	cases := map[string]struct{ reason, spec, want string }{
		"NoImage":     {reason: "An image is required.", spec: `{"image": ""}`, want: "spec.image"},
		"ImageSpace":  {reason: "An image is no text with a space.", spec: `{"image": "a b"}`, want: "reference of an image"},
		"Backtick":    {reason: "A host with a backtick is refused.", spec: "{\"route\": {\"host\": \"a`b.example.org\"}}", want: "name of one host"},
		"Wildcard":    {reason: "A host with a wildcard is refused.", spec: `{"route": {"host": "*.example.org"}}`, want: "name of one host"},
		"SameName":    {reason: "A variable stands in env once.", spec: `{"env": [{"name": "A"}, {"name": "A"}]}`, want: "duplicate entries"},
		"NoName":      {reason: "A variable has a name of letters, digits and underscores.", spec: `{"env": [{"name": "a-b"}]}`, want: "environment variable"},
		"TooMany":     {reason: "There are at most 64 variables.", spec: fmt.Sprintf(`{"env": [%s]}`, variablesOf(65)), want: "64"},
		"TwoSources":  {reason: "A variable has a value or a reference.", spec: `{"env": [{"name": "A", "value": "1", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}`, want: "exclude each other"},
		"Elsewhere":   {reason: "A Secret of another namespace cannot be named.", spec: `{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "team-b/db", "key": "b"}}}]}`, want: "name of an object"},
		"CPU":         {reason: "A pod asks for at most 256 processors.", spec: `{"resources": {"cpu": "257"}}`, want: "at most 256"},
		"Memory":      {reason: "A pod asks for at most 4Ti.", spec: `{"resources": {"memory": "5Ti"}}`, want: "at most 4Ti"},
		"Scaled":      {reason: "An autoscaler rules the replicas alone.", spec: `{"replicas": 2, "autoscaling": {"max": 3}}`, want: "autoscaling excludes replicas"},
		"MinMax":      {reason: "The smallest number is not above the greatest.", spec: `{"autoscaling": {"min": 4, "max": 3}}`, want: "min must not be greater"},
		"RouteParam":  {reason: "The parameters of a route are not set twice.", spec: `{"deploy": {"parameters": {"host": "a"}}}`, want: "are set by spec.route"},
		"BindingPath": {reason: "A service is no path.", spec: `{"services": [{"name": "../x", "secretRef": {"name": "a"}}]}`, want: "lower-case letters"},
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

// TestWritten shows the examples and the blocks of YAML of the documentation to the API server, with strict validation of their fields.
func TestWritten(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp)}
	root, err := controlplane.Root()
	s.must(err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "applications.md"))
	s.must(err)
	texts := []string{}
	for _, block := range regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```").FindAllStringSubmatch(string(page), -1) {
		// A part of an object is none.
		if strings.HasPrefix(block[1], "apiVersion:") {
			texts = append(texts, block[1])
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "examples", "applications", "*.yaml"))
	s.must(err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		s.must(err)
		texts = append(texts, string(b))
	}
	if len(texts) < 4 {
		t.Fatalf("found %d texts", len(texts))
	}
	for _, text := range texts {
		o := map[string]any{}
		s.must(yaml.Unmarshal([]byte(text), &o))
		file := filepath.Join(t.TempDir(), "application.yaml")
		s.must(os.WriteFile(file, []byte(strings.Replace(text, "namespace: team-a", "namespace: "+s.Namespace, 1)), 0o600))
		if out := s.Run("apply", "--dry-run=server", "--validate=strict", "-f", file); !strings.Contains(out, "created (server dry run)") {
			t.Errorf("%s\n%s", text, out)
		}
	}
}

package offline

import (
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// brings is a GitDelivery by which a deployment of team-a brought a ConfigMap of that name to edge1, where the quickstart delivers it.
func brings(t *testing.T, name, action, configMap string) *unstructured.Unstructured {
	t.Helper()
	files, err := tree.Encode(tree.Files{"configmap.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: team-a, name: " + configMap + "}\n")})
	if err != nil {
		t.Fatal(err)
	}
	filesField := ""
	if action == "Desired" {
		filesField = ", files: " + base64.StdEncoding.EncodeToString(files)
	}
	return cli.Parse(t, `apiVersion: delivery.intentplane.dev/v1alpha1
kind: GitDelivery
metadata: {namespace: team-a, name: `+name+`}
spec: {forProvider: {claimRef: {namespace: team-a, name: `+name+`}, trees: [{site: edge1, branch: main, path: clusters/edge1/team-a/`+name+`, action: `+action+filesField+`}]}}
status: {atProvider: {remote: {url: `+fleetURL(t)+`}}}
`)
}

// bringsLater is a GitDelivery that keeps the directory of edge1 until a later step, in which it brings a ConfigMap of that name.
func bringsLater(t *testing.T, name, configMap string) *unstructured.Unstructured {
	t.Helper()
	out := brings(t, name, "Desired", configMap)
	trees, _, err := unstructured.NestedSlice(out.Object, "spec", "forProvider", "trees")
	if err != nil {
		t.Fatal(err)
	}
	later, ok := trees[0].(map[string]any)
	if !ok {
		t.Fatalf("the GitDelivery has no tree: %v", trees)
	}
	kept := maps.Clone(later)
	kept["action"] = "Keep"
	delete(kept, "files")
	later["revision"], later["step"] = int64(1), int64(1)
	p := map[string]any{"trees": []any{kept}, "later": []any{later}}
	for field, value := range p {
		if err := unstructured.SetNestedField(out.Object, value, "spec", "forProvider", field); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// fleetURL is the repository of the quickstart.
func fleetURL(t *testing.T) string {
	t.Helper()
	documents, err := manifest.ReadDocuments(nil, examples+"30-config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		object, err := manifest.ParseObject(d.Text)
		if err != nil {
			t.Fatal(err)
		}
		if url, found, _ := unstructured.NestedString(object, "spec", "git", "url"); found {
			return url
		}
	}
	t.Fatal("the quickstart has no repository")
	return ""
}

// TestValidateAgainstCluster validates a claim while other deployments of the cluster deliver to the same Site.
func TestValidateAgainstCluster(t *testing.T) {
	conflict := `-:1: IntentDeployment team-a/shop: ObjectConflict: Site "edge1": ConfigMap team-a/shop is delivered there by team-a/market as well: give one of the services another name`
	const gitdeliveries = "gitdeliveries.delivery.intentplane.dev"
	cases := map[string]struct {
		reason string
		others []*unstructured.Unstructured
		// also is the text behind the claim in the file.
		also   string
		denied []string
		want   []string
		says   string
	}{
		"Conflict": {
			reason: "An object that another deployment of the cluster delivers to the Site is found.",
			others: []*unstructured.Unstructured{brings(t, "market", "Desired", "shop")}, want: []string{conflict},
		},
		"Other": {reason: "Another object does not conflict.", others: []*unstructured.Unstructured{brings(t, "market", "Desired", "market")}},
		"Later": {
			reason: "An object that another deployment brings to the Site in a later step is found.",
			others: []*unstructured.Unstructured{bringsLater(t, "market", "shop")}, want: []string{conflict},
		},
		"Itself": {
			reason: "An object that the deployment of the file delivered itself does not conflict.",
			others: []*unstructured.Unstructured{brings(t, "shop", "Desired", "shop")},
		},
		"Changed": {
			reason: "A deployment that the files change is compared as the files have it.", others: []*unstructured.Unstructured{brings(t, "market", "Desired", "shop")},
			also: "---\n" + strings.NewReplacer("name: shop", "name: market", `"shop"}`, `"market", "site": "edge1"}`).Replace(cli.Claim),
		},
		"Namespace": {
			reason: "A user who may read one namespace finds the conflicts there, and sees that others were not looked for.",
			others: []*unstructured.Unstructured{brings(t, "market", "Desired", "shop")},
			denied: []string{gitdeliveries + " of all namespaces"}, want: []string{conflict}, says: "the GitDeliveries of all namespaces cannot be listed",
		},
		"Denied": {
			reason: "A user who may read no GitDeliveries sees that conflicts are not found.",
			others: []*unstructured.Unstructured{brings(t, "market", "Desired", "shop")},
			denied: []string{gitdeliveries},
			says:   "the GitDeliveries of namespace team-a cannot be read, so objects that their deployments deliver to the same Site are not found: ",
		},
		"Restored": {
			reason: "A deployment that was rolled back is named, since its objects are not known.",
			others: []*unstructured.Unstructured{brings(t, "market", "Restore", "shop")},
			says:   "the objects of team-a/market at Site edge1 are not compared",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Objects: tc.others, Denied: map[string]bool{}}
			for _, d := range tc.denied {
				server.Denied[d] = true
			}
			kubeconfig := server.Start(t, trialSites, examples+"20-blueprint.yaml", examples+"30-config.yaml")
			text := strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1"}`, 1) + tc.also
			out, problems, code := runIntent(text, "validate", "-", "--live", "--kubeconfig", kubeconfig)
			got := []string{}
			for line := range strings.Lines(out) {
				if strings.Contains(line, "ObjectConflict") {
					got = append(got, strings.TrimSpace(line))
				}
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" || (code == 0) != (len(tc.want) == 0) {
				t.Errorf("\n%s\nrun(...): exit code %d: -want, +got:\n%s%s%s", tc.reason, code, diff, out, problems)
			}
			if !strings.Contains(out, tc.says) || (tc.says == "") != !strings.Contains(out, "warning: ") {
				t.Errorf("\n%s\nrun(...): want a warning with %q:\n%s", tc.reason, tc.says, out)
			}
		})
	}
}

// TestValidateOverlap looks at claims of two files of which the later one brings objects of the first one to the same Site.
func TestValidateOverlap(t *testing.T) {
	dir, files := t.TempDir(), map[string]string{"one": "shop", "two": "market", "three": "elsewhere"}
	args := []string{"validate"}
	for _, name := range []string{"one", "two", "three"} {
		site := map[string]string{"one": "edge1", "two": "edge1", "three": "edge2"}[name]
		text := strings.NewReplacer("name: shop}", "name: "+files[name]+"}", `"shop"}`, `"shop", "site": "`+site+`"}`).Replace(cli.Claim)
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, problems, code := runIntent("", append(args, "--site="+trialSites, "--blueprint="+examples+"20-blueprint.yaml")...)
	want := `two.yaml:1: IntentDeployment team-a/market: ObjectConflict: Site "edge1": ConfigMap team-a/shop is delivered there by team-a/shop as well: give one of the services another name` +
		"\n3 objects, 1 mistake\n"
	if code != terminal.ExitInvalid || !strings.HasSuffix(out, want) {
		t.Errorf("An object that two claims bring to one Site is found across files: want 1 and %q, got %d:\n%s%s", want, code, out, problems)
	}
}

package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// joinLines undoes how a terminal's width breaks lines.
func joinLines(out string) string { return strings.Join(strings.Fields(out), " ") }

func TestDoctor(t *testing.T) {
	cases := map[string]struct {
		reason string
		server cli.Server
		edit   func([]*unstructured.Unstructured)
		args   []string
		code   int
		says   []string
		not    string
	}{
		"Well": {
			reason: "An installation that is well has no problems.", not: " problem versions",
			says: []string{
				"ok versions: Crossplane crossplane-system/crossplane: 2.4.0 ", "kinds of the provider: 15 of 15 are active",
				"provider-intentplane: has the rights of examples/rbac/provider.yaml", ", 0 problem, ",
			},
		},
		"Package": {
			reason: "A package that is not healthy is a problem, which the exit code says.", code: terminal.ExitInvalid,
			edit: func(all []*unstructured.Unstructured) {
				cli.SetConditions(all, "Function", map[string]any{"type": "Installed", "status": "True"}, map[string]any{"type": "Healthy", "status": "False", "reason": "Sick", "message": "no image"})
			},
			says: []string{
				"problem packages: Function intentplane-function-intentplane:", "PackageUnhealthy: Healthy is False (Sick): no image",
				"Fix: Repair the package", ", 1 problem, ",
			},
		},
		"Right": {
			reason: "A right that the service account does not have is a problem.",
			code:   terminal.ExitInvalid, server: cli.Server{Refused: map[string]bool{"create clusters": true}},
			says: []string{"may not create clusters.cluster.x-k8s.io", "Fix: kubectl apply -f examples/rbac/provider.yaml"},
		},
		"Unread": {
			reason: "A user who may read little gets no false problem.", not: " Fix: ",
			server: cli.Server{Denied: map[string]bool{
				"deployments.apps": true, "functions.pkg.crossplane.io": true, "providers.pkg.crossplane.io": true, "configurations.pkg.crossplane.io": true,
				"compositeresourcedefinitions.apiextensions.crossplane.io": true, "managedresourcedefinitions.apiextensions.crossplane.io": true,
				"subjectaccessreviews.authorization.k8s.io": true, "sites.catalog.intentplane.dev": true,
			}},
			says: []string{
				"unknown packages: functions.pkg.crossplane.io: not read: the user may not",
				"unknown rights: subjectaccessreviews.authorization.k8s.io: not read",
			},
		},
		"Unused": {
			reason: "A Site that no deployment uses is looked at, too: its kubeconfig is missing.", code: terminal.ExitInvalid,
			edit: func(all []*unstructured.Unstructured) {
				*all[0] = *cli.Parse(t, `{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: far}, spec: {cluster: {kubeconfigSecretRef: {namespace: sites, name: far, key: value}}}}`)
			},
			says: []string{"ok sites: Site edge1: no deployment uses it, so its cluster and engine were not asked; the objects that it names exist", "problem sites: Site far: Secret sites/far with key value does not exist", "Fix: Make Secret sites/far"},
		},
		"JSON": {reason: "A script gets the lines.", args: []string{"-o", "json"}, says: []string{`"check": "versions"`, `"result": "ok"`, `"problems": 0`}},
		"YAML": {reason: "The lines can be printed as YAML.", args: []string{"-o", "yaml"}, says: []string{"check: versions", "problems: 0"}},
		"Pre": {
			reason: "A cluster that is ready for an installation has no problems.", args: []string{"--pre"}, not: "sites",
			says: []string{"versions: Kubernetes: v1.36.3", "you: may apply examples/install", ", 0 problem, "},
		},
		"PreRights": {
			reason: "A user who may not install learns which right is missing.",
			args:   []string{"--pre"}, code: terminal.ExitInvalid, server: cli.Server{Refused: map[string]bool{"create configurations": true}},
			says: []string{"problem rights: you: may not create configurations.pkg.crossplane.io", "Fix: Ask an administrator"},
		},
		"PreCrossplane": {
			reason: "A cluster without Crossplane is not ready.",
			args:   []string{"--pre"}, code: terminal.ExitInvalid,
			server: cli.Server{Absent: map[string]bool{"configurations.pkg.crossplane.io": true}},
			says:   []string{"problem versions: Crossplane: The cluster does not have the kinds", "Fix: Install Crossplane"},
		},
		"PrePolicies": {
			reason: "A cluster that does not serve policies is not ready.",
			args:   []string{"--pre"}, code: terminal.ExitInvalid,
			server: cli.Server{Absent: map[string]bool{"validatingadmissionpolicies.admissionregistration.k8s.io": true}},
			says:   []string{"problem policies: Kubernetes: The API server does not serve validatingadmissionpolicies", "Fix: Upgrade Kubernetes"},
		},
		"PreManagedKinds": {
			reason: "A Crossplane without the definitions of managed kinds is too old.",
			args:   []string{"--pre"}, code: terminal.ExitInvalid,
			server: cli.Server{Absent: map[string]bool{"managedresourcedefinitions.apiextensions.crossplane.io": true}},
			says:   []string{"problem versions: Crossplane: Crossplane is older than version 2", "Fix: Upgrade Crossplane"},
		},
		"PreVersion1": {
			reason: "A Crossplane of version 1.20 is named with its version.",
			args:   []string{"--pre"}, code: terminal.ExitInvalid,
			server: cli.Server{Absent: map[string]bool{"managedresourcedefinitions.apiextensions.crossplane.io": true}},
			edit:   func(all []*unstructured.Unstructured) { setCrossplane(t, all, "1.20.0") },
			says: []string{
				"problem versions: Crossplane crossplane-system/crossplane: 1.20.0 does not fit >=v2.4.0-0. Fix: Upgrade Crossplane",
				"problem versions: Crossplane: Crossplane is older than version 2",
			},
		},
		"Kubeconfig": {
			reason: "A kubeconfig that does not exist is a mistake of the command line.",
			args:   []string{"--kubeconfig", "/nowhere"}, code: terminal.ExitUsage, says: []string{"cannot use the kubeconfig"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.server.Objects = cli.Installation(t)
			if tc.edit != nil {
				tc.edit(tc.server.Objects)
			}
			kubeconfig := tc.server.Start(t, trialSites, examples+"30-config.yaml")
			out, problems, code := runIntent("", append([]string{"doctor", "--kubeconfig", kubeconfig}, tc.args...)...)
			out, problems = joinLines(out), joinLines(problems)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\ndoctor: want %d and not %q, got %d:\n%s%s", tc.reason, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\ndoctor: want %q, got:\n%s%s", tc.reason, want, out, problems)
				}
			}
		})
	}
}

// TestDoctorBeforeInstallation looks, with a released program, at clusters that the examples of an installation do not fit as they are.
func TestDoctorBeforeInstallation(t *testing.T) {
	const image = "r.example.org/ghcr/intentplane/provider-intentplane"
	cases := map[string]struct {
		reason  string
		version string
		object  string
		code    int
		says    []string
	}{
		"OlderProvider": {
			reason:  "A provider of an earlier minor version is upgraded, and nothing is installed beside it.",
			version: "v0.3.0", code: terminal.ExitInvalid,
			says: []string{
				"problem versions: Provider intentplane-provider-intentplane: v0.1.0 is installed, and kubectl-intent is v0.3.0. " +
					"Fix: Upgrade by one minor version at a time, as docs/install.md#upgrading says.",
			},
		},
		"Mirror": {
			reason:  "Settings of programs are missing for the names that images have in a mirror, which is advice before they are applied.",
			version: "v0.1.0",
			object: `{apiVersion: pkg.crossplane.io/v1beta1, kind: ImageConfig, metadata: {name: mirror},
				spec: {matchImages: [{prefix: ghcr.io}], rewriteImage: {prefix: r.example.org/ghcr}}}`,
			says: []string{
				"advice packages: ImageConfig mirror: No ImageConfig gives " + image + " its settings", "Fix: Add the prefix " + image + " to the ImageConfigs", ", 0 problem, ",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := cli.Server{Objects: cli.Installation(t)}
			if tc.object != "" {
				server.Objects = append(server.Objects, cli.Parse(t, tc.object))
			}
			out := &bytes.Buffer{}
			problems, code := cli.RunWith(&commands{}, &terminal.Streams{Out: out, Version: tc.version}, "doctor", "--pre", "--kubeconfig", server.Start(t))
			got := joinLines(out.String())
			if code != tc.code {
				t.Errorf("\n%s\nkubectl-intent %s doctor --pre: want exit code %d, got %d:\n%s%s", tc.reason, tc.version, tc.code, code, got, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(got, want) {
					t.Errorf("\n%s\nkubectl-intent %s doctor --pre: want %q, got:\n%s%s", tc.reason, tc.version, want, got, problems)
				}
			}
		})
	}
}

// setCrossplane sets the version of the sample's Crossplane.
func setCrossplane(t *testing.T, all []*unstructured.Unstructured, version string) {
	t.Helper()
	for _, o := range all {
		if o.GetKind() != "Deployment" || o.GetName() != "crossplane" {
			continue
		}
		labels := o.GetLabels()
		labels["app.kubernetes.io/version"] = version
		o.SetLabels(labels)
		containers := []any{map[string]any{"name": "crossplane", "image": "xpkg.crossplane.io/crossplane/crossplane:v" + version}}
		if err := unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDoctorOfTutorial compares the sample of the second tutorial with the output for a cluster that is ready.
func TestDoctorOfTutorial(t *testing.T) {
	page, err := os.ReadFile("../../../docs/start/first-service.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "kubectl intent doctor --pre\n```\n\n```\n")
	want, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("The tutorial shows the output of its first command.")
	}
	server := &cli.Server{Objects: cli.Installation(t)}
	out, problems, _ := runIntent("", "doctor", "--pre", "--kubeconfig", server.Start(t))
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("The tutorial shows another output: -want, +got:\n%s%s", diff, problems)
	}
}

// TestDoctorIsBounded looks at a cluster that never answers.
func TestDoctorIsBounded(t *testing.T) {
	ended := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	defer s.Close()
	defer close(ended)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {token: a}}]}`, s.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--pre"}} {
		out, problems, code := runIntent("", append(args, "--kubeconfig", kubeconfig, "--timeout", "300ms")...)
		out = joinLines(out)
		if code != 0 || !strings.Contains(out, "the cluster did not answer in time") || !strings.Contains(out, "0 ok, 0 problem, ") {
			t.Errorf("%q: an unanswered check is unknown: exit code %d:\n%s%s", args, code, out, problems)
		}
	}
}

// maxDoctorRequests is the number of requests for a look at ten configurations and a hundred Sites. Apart from the requests for
// rights, each is a list.
const maxDoctorRequests = 120

// TestDoctorRequests looks at ten configurations and a hundred Sites, each with a GitDelivery and a SiteSync.
func TestDoctorRequests(t *testing.T) {
	server := &cli.Server{Objects: cli.Installation(t)}
	for i := range 10 {
		server.Objects = append(server.Objects,
			cli.Parse(t, fmt.Sprintf(`{apiVersion: config.intentplane.dev/v1alpha1, kind: ClusterProviderConfig, metadata: {name: c%d}}`, i)),
			cli.Parse(t, fmt.Sprintf(`{apiVersion: delivery.intentplane.dev/v1alpha1, kind: GitDelivery, metadata: {namespace: team-%d, name: shop}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: c%[1]d}},
				status: {conditions: [{type: Ready, status: "False", reason: Unreachable, message: no route, lastTransitionTime: "2031-05-06T12:00:00Z"}]}}`, i)))
	}
	for i := range 100 {
		server.Objects = append(server.Objects,
			cli.Parse(t, fmt.Sprintf(`{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: s%d}}`, i)),
			cli.Parse(t, fmt.Sprintf(`{apiVersion: delivery.intentplane.dev/v1alpha1, kind: SiteSync, metadata: {namespace: team-a, name: shop-%d},
				status: {conditions: [{type: Ready, status: "False", reason: Syncing, lastTransitionTime: "2031-05-06T12:00:00Z"}], atProvider: {sites: [{name: s%[1]d, state: Syncing, reason: ClusterUnreachable, message: no route}]}}}`, i)))
	}
	n := &atomic.Int64{}
	server.Requests = n
	out, problems, code := runIntent("", "doctor", "--kubeconfig", server.Start(t), "-o", "json")
	report := diagnosisReport{}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, problems)
	}
	if code != terminal.ExitInvalid || report.Problems != 110 {
		t.Errorf("doctor: want exit code %d and 110 problems, got %d and %d", terminal.ExitInvalid, code, report.Problems)
	}
	t.Logf("%d requests", n.Load())
	if n.Load() > maxDoctorRequests {
		t.Errorf("doctor makes %d requests, want at most %d", n.Load(), maxDoctorRequests)
	}
}

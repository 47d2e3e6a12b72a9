package bundle

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

var now = metav1.NewTime(time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC))

const twoPackages = `
version: 1.4.0
packages:
- {name: db, version: 1.2.0, deployment: {intent: "{}", blueprint: {name: web, version: 3.1.0}}}
- {name: shop, dependsOn: [db], deployment: {intent: "{}", blueprint: {name: web, channel: stable}}}
- {name: old, enabled: false, application: {image: registry.example.org/old:1}}
`

// A world is a Bundle, and the outputs of the function for it.
type world struct {
	*testing.T

	in  Input
	out *Output
}

func newWorld(t *testing.T, spec string) *world {
	t.Helper()
	w := &world{T: t, in: Input{Group: v1alpha1.GroupNamespaced, Namespace: "team-a", Name: "platform", Now: now, Observed: map[string]*unstructured.Unstructured{}}}
	w.edit(spec)
	return w
}

// edit gives the Bundle another spec, and calls the function.
func (w *world) edit(spec string) {
	w.Helper()
	w.in.Spec = v1alpha1.BundleSpec{}
	if err := yaml.UnmarshalStrict([]byte(spec), &w.in.Spec); err != nil {
		w.Fatal(err)
	}
	w.run()
}

func (w *world) run() {
	w.Helper()
	out, err := Run(w.in)
	if err != nil {
		w.Fatal(err)
	}
	w.out, w.in.Status = out, *out.Status
}

// state returns the BundleState that is asked for.
func (w *world) state() *statev1alpha1.BundleState {
	w.Helper()
	s := &statev1alpha1.BundleState{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.out.Resources[StateName].Object.Object, s); err != nil {
		w.Fatal(err)
	}
	return s
}

// report lets the BundleState that is asked for say something about its packages.
func (w *world) report(ready bool, packages ...statev1alpha1.PackageObservation) {
	w.Helper()
	s := w.state()
	s.Status.AtProvider = statev1alpha1.BundleStateObservation{
		SpecDigest: s.Spec.ForProvider.SpecDigest, Status: statev1alpha1.StatusDeploying, Packages: packages, Record: statev1alpha1.BundleRecord{Secret: "record"},
	}
	c := xpv2.Unavailable()
	if ready {
		c = xpv2.Available()
	}
	s.SetConditions(c)
	b, err := json.Marshal(s)
	if err != nil {
		w.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(b, &u.Object); err != nil {
		w.Fatal(err)
	}
	w.in.Observed[StateName] = u
	w.run()
}

func is(name, status string) statev1alpha1.PackageObservation {
	return statev1alpha1.PackageObservation{Name: name, Status: status, Ready: status == statev1alpha1.StatusSuccess}
}

func waiting(name string) statev1alpha1.PackageObservation {
	return statev1alpha1.PackageObservation{Name: name, Status: statev1alpha1.StatusSuccess, Ready: true, Reason: statev1alpha1.PackageReasonAwaitingDependency, Message: "it waits for package db"}
}

func down(name string) statev1alpha1.PackageObservation {
	return statev1alpha1.PackageObservation{Name: name, Status: statev1alpha1.StatusSuccess, Reason: statev1alpha1.PackageReasonNotReady}
}

func (w *world) condition(typ string) projection.Condition {
	w.Helper()
	for _, c := range w.out.Conditions {
		if c.Type == typ {
			return c
		}
	}
	w.Fatalf("no condition %s", typ)
	return projection.Condition{}
}

func TestRun(t *testing.T) {
	w := newWorld(t, twoPackages)
	s := w.state()
	if s.GetName() != "platform.ns" || s.GetNamespace() != "team-a" {
		t.Errorf("the BundleState is %s/%s", s.GetNamespace(), s.GetName())
	}
	type row struct {
		Name, Kind, Version string
		Layer               int32
		Disabled            bool
	}
	got := []row{}
	for _, p := range s.Spec.ForProvider.Packages {
		got = append(got, row{p.Name, p.Kind, p.Version, p.Layer, p.Disabled})
		if p.Digest == "" || p.Spec == nil {
			t.Errorf("package %s has no spec", p.Name)
		}
	}
	want := []row{{"db", "IntentDeployment", "1.2.0", 1, false}, {"shop", "IntentDeployment", "stable", 2, false}, {"old", "Application", "", 1, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages: -want, +got:\n%s", diff)
	}
	if w.out.Status.Phase != v1alpha1.PhasePending || w.out.Ready {
		t.Errorf("phase %s, ready %t before the provider has seen the Bundle", w.out.Status.Phase, w.out.Ready)
	}
	digest := w.out.Status.SpecDigest
	w.report(true, is("db", statev1alpha1.StatusSuccess), is("shop", statev1alpha1.StatusSuccess), is("old", statev1alpha1.StatusRemoved))
	if !w.out.Ready || w.out.Status.Phase != v1alpha1.PhaseSucceeded || w.out.Status.Ready != "2/2" || w.out.Status.SpecDigest != digest {
		t.Errorf("status: %+v", w.out.Status)
	}
	if previous := w.out.Status; true {
		w.run()
		if diff := cmp.Diff(previous, w.out.Status); diff != "" {
			t.Errorf("The same observation has another status: -first, +second:\n%s", diff)
		}
	}
	w.edit(strings.Replace(twoPackages, "1.4.0", "1.5.0", 1))
	if w.out.Status.Phase != v1alpha1.PhasePending || w.out.Ready {
		t.Errorf("An old success counts for another spec: phase %s", w.out.Status.Phase)
	}
	for _, spec := range []string{strings.Replace(twoPackages, "1.4.0", "1.5.0", 1), strings.Replace(twoPackages, "[db]", "[none]", 1)} {
		w.edit(spec)
		if got, c := w.out.Status, w.condition(v1alpha1.TypeRecorded); got.State != "" || got.Ready != "0/2" || c.Status != corev1.ConditionUnknown {
			t.Errorf("An old success is said of another spec: state %q, ready %s, condition Recorded %+v", got.State, got.Ready, c)
		}
	}
}

// TestProblems gives the function specs that cannot be carried out. The running packages stay as they are.
func TestProblems(t *testing.T) {
	cases := map[string]struct{ reason, spec, want string }{
		"Cycle": {
			reason: "A cycle is named by its path.",
			spec:   `{version: "1", packages: [{name: a, dependsOn: [b], deployment: {}}, {name: b, dependsOn: [a], deployment: {}}]}`,
			want:   "a → b → a",
		},
		"Disabled": {
			reason: "A package does not wait for a disabled package.",
			spec:   `{version: "1", packages: [{name: a, dependsOn: [b], deployment: {}}, {name: b, enabled: false, deployment: {}}]}`,
			want:   `spec.packages[a].dependsOn: package "b" is not enabled`,
		},
		"UnknownField": {
			reason: "A field that the kind does not have is refused.",
			spec:   `{version: "1", packages: [{name: a, deployment: {intnet: "{}"}}]}`, want: `spec.packages[a].deployment: unknown field "intnet"`,
		},
		"WrongType": {
			reason: "A field of the wrong type is refused.",
			spec:   `{version: "1", packages: [{name: a, deployment: {suspend: "no"}}]}`, want: "spec.packages[a].deployment: ",
		},
		"WrongCase": {
			reason: "Names of fields have one spelling.",
			spec:   `{version: "1", packages: [{name: a, deployment: {Intent: "{}"}}]}`, want: "unknown field",
		},
		"Application": {
			reason: "An Application has to be valid.",
			spec:   `{version: "1", packages: [{name: a, application: {image: "a b"}}]}`, want: "spec.packages[a].application: spec.image",
		},
		"LongName": {
			reason: "An Application has a short name.",
			spec:   `{version: "1", packages: [{name: ` + strings.Repeat("a", 53) + `, application: {image: a}}]}`, want: "at most 52 characters",
		},
		"Nothing": {
			reason: "A package is of some kind.",
			spec:   `{version: "1", packages: [{name: a}]}`, want: "one of deployment, application and existing must be set",
		},
		"TooLarge": {
			reason: "The specs have a bound together.",
			spec:   `{version: "1", packages: [{name: a, deployment: {intent: "` + strings.Repeat("a", maxSpecBytes) + `"}}]}`,
			want:   "make several Bundles of them",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, twoPackages)
			w.report(true, is("db", statev1alpha1.StatusSuccess), is("shop", statev1alpha1.StatusSuccess))
			previous := w.out.Resources[StateName].Object.Object["spec"]
			if previous == nil {
				t.Fatal("no BundleState is asked for")
			}
			w.edit(tc.spec)
			if c := w.condition(v1alpha1.TypeValid); !strings.Contains(c.Message, tc.want) || c.Reason != v1alpha1.ReasonInvalidSpec {
				t.Errorf("\n%s\ncondition Valid: %+v, want %q", tc.reason, c, tc.want)
			}
			if _, ok := w.out.Resources[StateName]; !ok || w.out.Status.Phase != v1alpha1.PhaseFailed || w.out.Ready {
				t.Errorf("\n%s\nphase %s, and the BundleState is asked for: %t", tc.reason, w.out.Status.Phase, ok)
			}
		})
	}
}

// TestBundleNames refuses names with which the record of a Bundle would have the name of another record, or a name that no Secret can have.
func TestBundleNames(t *testing.T) {
	for name, isValid := range map[string]bool{"plat.form": false, strings.Repeat("a", 63): true, strings.Repeat("a", 64): false, strings.Repeat("a", 250): false} {
		w := &world{T: t, in: Input{Group: v1alpha1.GroupClaims, Namespace: "team-a", Name: name, Now: now}}
		w.edit(twoPackages)
		c := w.condition(v1alpha1.TypeValid)
		if isValid != (c.Status == corev1.ConditionTrue) || !isValid && !strings.Contains(c.Message, "cannot be the name of a Bundle") {
			t.Errorf("condition Valid of a Bundle with a name of %d characters: %+v", len(name), c)
		}
	}
}

// TestStopsWhileInvalid stops a Bundle, and keeps its packages, although another field of its spec is wrong.
func TestStopsWhileInvalid(t *testing.T) {
	const wrong = "packages: [{name: a}]\nversion: '1'\n"
	w := newWorld(t, twoPackages)
	w.report(true, is("db", statev1alpha1.StatusSuccess), is("shop", statev1alpha1.StatusSuccess))
	for spec, want := range map[string][2]bool{wrong + "deletionPolicy: Orphan": {true, false}, wrong + "suspend: true": {false, true}, wrong: {false, false}} {
		w.edit(spec)
		got := w.state().Spec.ForProvider
		if [2]bool{got.Orphan, got.Suspend} != want || w.out.Status.Phase != v1alpha1.PhaseFailed {
			t.Errorf("With %q the BundleState has orphan %t, suspend %t: want %v", spec, got.Orphan, got.Suspend, want)
		}
	}
}

// TestPrune says when the BundleState prunes. One of an invalid spec never does.
func TestPrune(t *testing.T) {
	for spec, want := range map[string]string{
		"": "", "pruneMinAge: 2h": "", "prune: Never": "", "prune: AfterSuccess": "1h0m0s", "prune: AfterSuccess\npruneMinAge: 0s": "0s",
		"prune: AfterSuccess\nversion: ''\npruneMinAge: tomorrow": "",
	} {
		w := newWorld(t, twoPackages+"prune: AfterSuccess\n")
		w.report(true, is("db", statev1alpha1.StatusSuccess), is("shop", statev1alpha1.StatusSuccess))
		w.edit(strings.Replace(twoPackages, "version: 1.4.0\n", "", 1) + spec + "\n")
		got := ""
		if age := w.state().Spec.ForProvider.PruneAfter; age != nil {
			got = age.Duration.String()
		}
		if isFailed := w.out.Status.Phase == v1alpha1.PhaseFailed; got != want || isFailed != strings.Contains(spec, "tomorrow") {
			t.Errorf("With %q the BundleState prunes after %q, want %q: %s", spec, got, want, w.out.Status.Message)
		}
	}
}

// TestDisabledTogether removes a package together with its dependent.
func TestDisabledTogether(t *testing.T) {
	w := newWorld(t, `{version: "1", packages: [{name: a, enabled: false, dependsOn: [b], deployment: {}}, {name: b, enabled: false, deployment: {}}]}`)
	if c := w.condition(v1alpha1.TypeValid); c.Status != corev1.ConditionTrue {
		t.Errorf("condition Valid: %+v", c)
	}
}

// TestPhases lets packages come, wait and fail.
func TestPhases(t *testing.T) {
	cases := map[string]struct {
		reason   string
		packages []statev1alpha1.PackageObservation
		phase    v1alpha1.Phase
		deployed string
		says     string
	}{
		"Begun": {
			reason:   "A package that waits is not deployed yet.",
			packages: []statev1alpha1.PackageObservation{is("db", "deploying"), is("shop", "not_deployed"), is("old", "not_deployed")},
			phase:    "Deploying", deployed: "Deploying", says: "Package db is deploying.",
		},
		"Waits": {
			reason:   "A package that runs an earlier spec is not done.",
			packages: []statev1alpha1.PackageObservation{is("db", "success"), waiting("shop"), is("old", "removed")}, phase: "Deploying",
			deployed: "Deploying", says: "it waits for package db.",
		},
		"Failed": {
			reason: "A failed package takes precedence over a package in progress.",
			packages: []statev1alpha1.PackageObservation{
				is("db", "deploying"), {Name: "shop", Status: "failed", Reason: "RolledBack", Message: "gate latency"}, is("old", "removed"),
			},
			phase: "Failed", deployed: "RolledBack", says: "Package shop is failed: gate latency.",
		},
		"Mended": {
			reason: "A package whose earlier spec failed, and that waits for its turn, did not fail.",
			packages: []statev1alpha1.PackageObservation{
				is("db", "deploying"),
				{Name: "shop", Status: "failed", Reason: "AwaitingDependency", Message: "it waits for package db"},
				is("old", "removed"),
			},
			phase: "Deploying", deployed: "Deploying", says: "Package db is deploying.",
		},
		"HeldBack": {
			reason: "A package that is held back did not fail either.",
			packages: []statev1alpha1.PackageObservation{
				is("db", "success"), {Name: "shop", Status: "failed", Reason: "Suspended", Message: "the Bundle is suspended"}, is("old", "removed"),
			},
			phase: "Deploying", deployed: "Deploying", says: "Package shop: the Bundle is suspended.",
		},
		"Removing": {
			reason:   "A package that is not enabled has to be gone.",
			packages: []statev1alpha1.PackageObservation{is("db", "success"), is("shop", "success"), is("old", "removing")}, phase: "Deploying",
			deployed: "Deploying", says: "Package old is removing.",
		},
		"Blocked": {
			reason: "A package that cannot be removed is a failure.",
			packages: []statev1alpha1.PackageObservation{
				is("db", "success"), is("shop", "success"), {Name: "old", Status: "failed_remove", Reason: "RemovalBlocked"},
			},
			phase: "Failed", deployed: "RemovalBlocked", says: "Package old is failed remove.",
		},
		"Down": {
			reason:   "A package that was deployed and is not ready degrades the Bundle.",
			packages: []statev1alpha1.PackageObservation{is("db", "success"), down("shop"), is("old", "removed")}, phase: "Degraded",
			deployed: "Degraded", says: "Package shop is success.",
		},
		"Left": {
			reason: "A package that left the Bundle changes no phase.",
			packages: []statev1alpha1.PackageObservation{
				is("db", "success"), is("shop", "success"), is("old", "removed"), is("gone", "unreferenced"),
			},
			phase: "Succeeded", deployed: "Deployed", says: "2 packages run version 1.4.0.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, twoPackages)
			w.report(false, tc.packages...)
			if got := w.out.Status; got.Phase != tc.phase || !strings.Contains(got.Message, tc.says) {
				t.Errorf("\n%s\nphase %s: %s", tc.reason, got.Phase, got.Message)
			}
			if c := w.condition(v1alpha1.TypeDeployed); c.Reason != tc.deployed {
				t.Errorf("\n%s\ncondition Deployed: %+v", tc.reason, c)
			}
			stalled, going := w.condition(v1alpha1.TypeStalled).Status, w.condition(v1alpha1.TypeReconciling).Status
			if stalled == corev1.ConditionTrue && going == corev1.ConditionTrue || w.out.Ready != (tc.phase == v1alpha1.PhaseSucceeded) {
				t.Errorf("\n%s\nStalled %s, Reconciling %s, ready %t", tc.reason, stalled, going, w.out.Ready)
			}
		})
	}
}

// TestSuspendedBundle holds a Bundle back that is not done.
func TestSuspendedBundle(t *testing.T) {
	w := newWorld(t, "suspend: true"+twoPackages)
	if !w.state().Spec.ForProvider.Suspend {
		t.Error("The BundleState goes on.")
	}
	w.report(false, is("db", statev1alpha1.StatusSuccess), is("shop", statev1alpha1.StatusNotDeployed))
	for _, typ := range []string{v1alpha1.TypeDeployed, v1alpha1.TypeReconciling} {
		if c := w.condition(typ); c.Reason != v1alpha1.ReasonHeldBack || c.Status != corev1.ConditionFalse {
			t.Errorf("condition of a Bundle that is held back: %+v", c)
		}
	}
}

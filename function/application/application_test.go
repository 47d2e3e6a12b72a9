package application

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/projection"
)

const (
	deploymentNeed = "IntentDeployment/team-a/shop"
	healthNeed     = "SiteHealth/team-a/shop"
)

// free are the answers to an Application whose name no object has.
func free() catalog.Answers { return catalog.Answers{deploymentNeed: {}, healthNeed: {}} }

// A world is an Application, and the outputs of the function for it.
type world struct {
	*testing.T

	in  Input
	out *Output
}

// newWorld has an Application that asks for the new image at edge1.
func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, in: Input{
		Namespace: "team-a", Name: "shop", UID: "ours", Answers: free(), Now: now, Observed: map[string]*unstructured.Unstructured{},
		Spec: v1alpha1.ApplicationSpec{Image: newImage, Deploy: v1alpha1.Deploy{Sites: []deploymentv1alpha1.SiteName{"edge1"}}},
	}}
}

// run calls the function, with the status that it gave before.
func (w *world) run() {
	w.Helper()
	out, err := Run(w.in)
	if err != nil {
		w.Fatal(err)
	}
	w.out, w.in.Status = out, *out.Status
}

// observe makes the desired object the observed object, as Crossplane applies it, with a status.
func (w *world) observe(name, status string) {
	w.Helper()
	o := w.out.Resources[name].Object.DeepCopy()
	s := map[string]any{}
	if err := yaml.Unmarshal([]byte(status), &s); err != nil {
		w.Fatal(err)
	}
	o.Object["status"] = s
	o.SetGeneration(1)
	w.in.Observed[name] = o
}

// desiredDigest returns the digest of the spec that the IntentDeployment should have.
func (w *world) desiredDigest() string {
	w.Helper()
	d, err := decodeComposed(w.out.Resources[DeploymentName].Object)
	if err != nil {
		w.Fatal(err)
	}
	sum, err := digest.Spec(&d.Spec)
	if err != nil {
		w.Fatal(err)
	}
	return sum
}

func decodeComposed(u *unstructured.Unstructured) (*Composed, error) {
	b, err := json.Marshal(u.Object)
	if err != nil {
		return nil, err
	}
	d := &Composed{}
	return d, json.Unmarshal(b, d)
}

func (w *world) condition(conditionType string) projection.Condition {
	w.Helper()
	for _, c := range w.out.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	w.Fatalf("no condition %s", conditionType)
	return projection.Condition{}
}

// deployed observes an IntentDeployment that succeeded with the desired image, and its pods.
func (w *world) deployed() {
	w.Helper()
	w.observe(DeploymentName, `{phase: Succeeded, outcome: Succeeded, revision: 1, verifiedRevision: 1, intentDigest: "`+w.desiredDigest()+`", delivery: {sites: {edge1: {}}}, conditions: [{type: Ready, status: "True", reason: Available}]}`)
}

func (w *world) serving(image string) {
	w.Helper()
	w.observe(HealthName, `{atProvider: {image: "`+image+`", sites: [{name: edge1, state: Available, available: 1, updated: 1, desired: 1}]}, conditions: [{type: Ready, status: "True", reason: Serving, observedGeneration: 1}]}`)
}

// TestLifeOfApplication goes from a new Application to a running Application, and on to the next image.
func TestLifeOfApplication(t *testing.T) {
	w := newWorld(t)
	w.run()
	if w.in.Status.Phase != v1alpha1.PhasePending || len(w.out.Resources) != 1 {
		t.Fatalf("first call: phase %s, %d resources", w.in.Status.Phase, len(w.out.Resources))
	}
	w.deployed()
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseDeploying || len(w.out.Resources) != 2 {
		t.Fatalf("without evidence about pods: phase %s, %d resources", w.in.Status.Phase, len(w.out.Resources))
	}
	w.serving(newImage)
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseRunning || !w.out.Ready || w.in.Status.Available != "1/1" || !w.out.Resources[HealthName].Ready {
		t.Fatalf("with a pod: %+v", w.in.Status)
	}
	w.in.Spec.Image = oldImage
	w.run()
	if w.in.Status.Phase != v1alpha1.PhasePending || w.out.Ready {
		t.Fatalf("another image: %+v", w.in.Status)
	}
	w.observe(DeploymentName, `{phase: Delivering, revision: 2, intentDigest: "`+w.desiredDigest()+`", delivery: {sites: {edge1: {}}}}`)
	w.run()
	if w.in.Status.Phase != v1alpha1.PhaseDeploying {
		t.Fatalf("while it is delivered: %+v", w.in.Status)
	}
}

// tooManyReplicas makes a spec invalid: an autoscaler rules the replicas alone.
func tooManyReplicas(s *v1alpha1.ApplicationSpec) {
	s.Autoscaling, s.Replicas = &deploymentv1alpha1.Autoscaling{Max: 2}, new(deploymentv1alpha1.Replicas(2))
}

// TestEditedEvidence has an Application that runs with an accepted route. An edit makes each condition unknown that would repeat the earlier spec.
func TestEditedEvidence(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.ApplicationSpec)
		want   map[string]string
	}{
		"None": {reason: "Without an edit all is known.", edit: func(*v1alpha1.ApplicationSpec) {}, want: map[string]string{"Routed": "Accepted", "Available": "Serving"}},
		"Host": {
			reason: "The accepted route has the earlier host.", edit: func(s *v1alpha1.ApplicationSpec) { s.Route.Host = "new.example.org" },
			want: map[string]string{"Routed": "NotDelivered", "Available": "Serving"},
		},
		"Path": {
			reason: "The accepted route has the earlier path.", edit: func(s *v1alpha1.ApplicationSpec) { s.Route.Path = "/new" },
			want: map[string]string{"Routed": "NotDelivered", "Available": "Serving"},
		},
		"Port": {
			reason: "The accepted route leads to the earlier port.", edit: func(s *v1alpha1.ApplicationSpec) { s.Port = new(int32(9090)) },
			want: map[string]string{"Routed": "NotDelivered", "Available": "Serving"},
		},
		"TLS": {
			reason: "A certificate changes nothing of the route.", edit: func(s *v1alpha1.ApplicationSpec) { s.Route.TLS = new(true) },
			want: map[string]string{"Routed": "Accepted", "Available": "Serving"},
		},
		"Site": {
			reason: "The new Site was not observed.", edit: func(s *v1alpha1.ApplicationSpec) { s.Deploy.Sites = append(s.Deploy.Sites, "edge2") },
			want: map[string]string{"Routed": "NotDelivered", "Available": "NotObserved"},
		},
		"Invalid": {
			reason: "A refused spec still requests a route.", edit: tooManyReplicas,
			want: map[string]string{"Routed": "NotDelivered", "Available": "Serving"},
		},
		"InvalidImage": {
			reason: "The pods are of another image than a refused spec names.", edit: func(s *v1alpha1.ApplicationSpec) { s.Image = "a b" },
			want: map[string]string{"Routed": "NotDelivered", "Available": "EarlierImage"},
		},
		"InvalidWithImage": {
			reason: "The pods are of another image than a spec names that is refused for another field.",
			edit:   func(s *v1alpha1.ApplicationSpec) { s.Image = oldImage; tooManyReplicas(s) },
			want:   map[string]string{"Routed": "NotDelivered", "Available": "EarlierImage"},
		},
		"InvalidSource": {
			reason: "The pods are of no image of a source that is refused.",
			edit: func(s *v1alpha1.ApplicationSpec) {
				s.Image, s.Source = "", &buildv1alpha1.Source{Git: &buildv1alpha1.GitSource{}}
				tooManyReplicas(s)
			},
			want: map[string]string{"Routed": "NotDelivered", "Available": "EarlierImage"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.in.Spec.Route = &v1alpha1.Route{Host: "shop.example.org"}
			w.run()
			w.deployed()
			w.run()
			w.observe(HealthName, `{atProvider: {image: "`+newImage+`", sites: [{name: edge1, state: Available, available: 1, updated: 1, desired: 1, route: {accepted: true}}]},
conditions: [{type: Ready, status: "True", reason: Serving, observedGeneration: 1}]}`)
			tc.edit(&w.in.Spec)
			w.run()
			got := map[string]string{"Routed": w.condition(v1alpha1.TypeRouted).Reason, "Available": w.condition(v1alpha1.TypeAvailable).Reason}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nreasons of the conditions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSuspendedEdit has an edit that spec.deploy.suspend holds back: the status of the deployment speaks about the new spec, and its success is that of the
// revision before.
func TestSuspendedEdit(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.deployed()
	w.run()
	w.serving(newImage)
	w.in.Spec.Deploy.Suspend, w.in.Spec.Env = new(true), []deploymentv1alpha1.EnvVar{{Name: "A", Value: "1"}}
	w.run()
	w.observe(DeploymentName, `{phase: Succeeded, outcome: Succeeded, heldBack: true, message: A newer request is held back by spec.suspend., revision: 1, intentDigest: "`+w.desiredDigest()+`", delivery: {sites: {edge1: {}}}}`)
	w.serving(newImage)
	w.run()
	if got := w.condition(v1alpha1.TypeDeployed); w.in.Status.Phase != v1alpha1.PhasePending || got.Reason != v1alpha1.ReasonHeldBack || w.condition(v1alpha1.TypeReconciling).Reason != v1alpha1.ReasonHeldBack {
		t.Errorf("phase %s, %v: %s", w.in.Status.Phase, got, w.in.Status.Message)
	}
	if !strings.Contains(w.in.Status.Message, "held back by spec.suspend") {
		t.Errorf("message %q", w.in.Status.Message)
	}
}

func TestSpecProblem(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   string
	}{
		"Name":  {reason: "A name that begins with a digit is none of a service.", change: func(in *Input) { in.Name = "1shop" }, want: "metadata.name: "},
		"Long":  {reason: "A name of 53 characters is too long.", change: func(in *Input) { in.Name = strings.Repeat("a", 53) }, want: "metadata.name: "},
		"Image": {reason: "A malformed reference of an image is refused.", change: func(in *Input) { in.Spec.Image = "a b" }, want: "spec.image: "},
		"Autoscaling": {reason: "An autoscaler rules the replicas alone.", change: func(in *Input) {
			in.Spec.Autoscaling, in.Spec.Replicas = &deploymentv1alpha1.Autoscaling{Max: 2}, new(deploymentv1alpha1.Replicas(2))
		}, want: "spec.autoscaling: "},
		"Twice": {
			reason: "A variable that stands in env twice is refused.", change: func(in *Input) { in.Spec.Env = []deploymentv1alpha1.EnvVar{{Name: "A"}, {Name: "A"}} },
			want: "spec.env[1].name: A stands at spec.env[0].name already",
		},
		"OfService": {reason: "A variable that stands in env and in a service is refused.", change: func(in *Input) {
			in.Spec.Env = []deploymentv1alpha1.EnvVar{{Name: "A"}}
			in.Spec.Services = []v1alpha1.Service{{Name: "db", Env: []v1alpha1.ServiceVariable{{Name: "A", Key: "a"}}}}
		}, want: "spec.services[db].env[A]: A stands at spec.env[0].name already"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.run()
			w.deployed()
			w.run()
			w.serving(newImage)
			previous := w.out.Resources
			tc.change(&w.in)
			w.run()
			if got := w.condition(v1alpha1.TypeValid); w.in.Status.Phase != v1alpha1.PhaseFailed || got.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(got.Message, tc.want) {
				t.Errorf("\n%s\nphase %s, condition %v", tc.reason, w.in.Status.Phase, got)
			}
			if len(w.out.Resources) != len(previous) || w.in.Status.Available != "1/1" {
				t.Errorf("\n%s\nThe running image stays, and is shown: %d resources, %+v", tc.reason, len(w.out.Resources), w.in.Status)
			}
		})
	}
}

// TestTag takes an image without a digest, and says that it may move.
func TestTag(t *testing.T) {
	w := newWorld(t)
	w.in.Spec.Image = "registry.example.org/team-a/shop:1.4"
	w.run()
	if got := w.condition(v1alpha1.TypeValid); got.Status != "True" || !strings.Contains(got.Message, "spec.image has no digest") || len(w.out.Resources) != 1 {
		t.Errorf("condition %v, %d resources", got, len(w.out.Resources))
	}
	if diff := cmp.Diff("shop:1.4", w.in.Status.ShortImage); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

package render

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const claimVersion = deploymentv1alpha1.GroupClaims + "/v1alpha1"

// An example is a deployment, and the catalog for it.
type example struct {
	claim   *unstructured.Unstructured
	catalog []*unstructured.Unstructured
}

// allExamples returns the examples that deliver something.
func allExamples(t *testing.T) map[string]example {
	t.Helper()
	quickstart, required := readObjects(t, "quickstart"), readObjects(t, "render", "required")
	out := map[string]example{
		"Quickstart":       {claim: firstOfKind(t, quickstart, "IntentDeployment"), catalog: quickstart},
		"Namespaced":       {claim: firstOfKind(t, readObjects(t, "namespaced"), "IntentDeployment"), catalog: quickstart},
		"RenderClaim":      {claim: claimOfComposite(t, firstOfKind(t, readObjects(t, "render", "claim", "composite.yaml"), "XIntentDeployment")), catalog: required},
		"RenderNamespaced": {claim: firstOfKind(t, readObjects(t, "render", "namespaced", "composite.yaml"), "IntentDeployment"), catalog: required},
	}
	found := 0
	for _, b := range readObjects(t, "blueprints") {
		if b.GetKind() != "Blueprint" {
			continue
		}
		examples, _, err := unstructured.NestedSlice(b.Object, "spec", "examples")
		if err != nil || len(examples) == 0 {
			t.Fatalf("%s has no examples: %v", b.GetName(), err)
		}
		for i := range examples {
			found++
			out[fmt.Sprintf("Blueprint %s %d", b.GetName(), i)] = exampleOfBlueprint(t, b, i)
		}
	}
	if found < 8 {
		t.Fatalf("found %d examples of Blueprints, want two of each of four", found)
	}
	return out
}

// exampleOfBlueprint returns the example of a Blueprint: its intent at a Site that allows the Blueprint's objects.
func exampleOfBlueprint(t *testing.T, o *unstructured.Unstructured, n int) example {
	t.Helper()
	b := &catalogv1alpha1.Blueprint{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, b); err != nil {
		t.Fatal(err)
	}
	e := b.Spec.Examples[n]
	wanted, err := intent.FromText(e.Intent)
	if err != nil {
		t.Fatal(err)
	}
	parameters := map[string]any{}
	for name, value := range e.Parameters {
		parameters[name] = string(value)
	}
	const namespace, site = "team-a", "edge1"
	return example{
		claim: objectFromYAML(claimVersion, "IntentDeployment", namespace, wanted.Service, map[string]any{
			"intent": e.Intent, "blueprint": map[string]any{"name": b.Spec.BlueprintName, "version": b.Spec.Version}, "deliveryConfig": map[string]any{"targetSite": site},
		}),
		catalog: []*unstructured.Unstructured{o, objectFromYAML(catalogv1alpha1.GroupVersion.String(), "Site", "", site, map[string]any{
			"cluster": map[string]any{"controlPlane": map[string]any{}}, "engine": map[string]any{"type": "None", "unobservedIsLive": true},
			"repository": map[string]any{"path": "clusters/" + site}, "allowedNamespaces": []any{namespace}, "parameters": parameters,
			"targetNamespaces": map[string]any{"clusterScoped": "Allow"},
		}), objectFromYAML("config.intentplane.dev/v1alpha1", "ClusterProviderConfig", "", "default", map[string]any{
			"controlPlane": "test", "git": map[string]any{"url": "https://git.example.org/fleet.git", "branch": "main"},
			"policy": map[string]any{"allowedKinds": allowedKinds()},
		})},
	}
}

// allowedKinds are the kinds that the Blueprints among the examples deliver.
func allowedKinds() []any {
	kinds := func(group string, kinds ...any) any { return map[string]any{"group": group, "kinds": kinds} }
	return []any{
		kinds("", "ConfigMap", "Service"), kinds("apps", "Deployment"), kinds("autoscaling", "HorizontalPodAutoscaler"), kinds("batch", "CronJob", "Job"), kinds("policy", "PodDisruptionBudget"),
		kinds("networking.k8s.io", "NetworkPolicy"), kinds("gateway.networking.k8s.io", "HTTPRoute"), kinds("o2ims.provisioning.oran.org", "ProvisioningRequest"),
	}
}

// claimOfComposite returns, for a composite, the claim that Crossplane made it of.
func claimOfComposite(t *testing.T, x *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	spec, _, err := unstructured.NestedMap(x.Object, "spec")
	if err != nil {
		t.Fatal(err)
	}
	ref, _, err := unstructured.NestedStringMap(spec, "claimRef")
	if err != nil {
		t.Fatal(err)
	}
	delete(spec, "claimRef")
	return objectFromYAML(ref["apiVersion"], ref["kind"], ref["namespace"], ref["name"], spec)
}

func objectFromYAML(apiVersion, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func firstOfKind(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind {
			return o
		}
	}
	t.Fatalf("the examples have no object of kind %s", kind)
	return nil
}

// readObjects reads the objects of a file or a folder of the examples, without the folders in it.
func readObjects(t *testing.T, elements ...string) []*unstructured.Unstructured {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(append([]string{root, "examples"}, elements...)...)
	files := []string{name}
	if !strings.HasSuffix(name, ".yaml") {
		if files, err = filepath.Glob(filepath.Join(name, "*.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	var out []*unstructured.Unstructured
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := kubernetes.ParseYAML(b)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, objects...)
	}
	return out
}

// objectsOfKind returns all objects of a kind in the catalog.
func (e example) objectsOfKind(kind string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(e.catalog), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
}

// deliveredTrees has the trees of the deliveries that the function composes, by Site.
func (e example) deliveredTrees(t *testing.T) map[string]tree.Files {
	t.Helper()
	c := &deploymentv1alpha1.IntentDeployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(e.claim.Object, c); err != nil {
		t.Fatal(err)
	}
	in := deployment.Input{
		Deployment: compile.Deployment{
			Claim: rolloutv1alpha1.ClaimReference{APIGroup: e.claim.GroupVersionKind().Group, Kind: c.Kind, Namespace: c.GetNamespace(), Name: c.GetName()},
			Spec:  c.Spec,
		},
		Answers: catalog.Answers{},
		Now:     metav1.Unix(0, 0),
	}
	core := deployment.New(render.NewRenderer())
	for range 5 {
		out, err := core.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Resources) > 0 {
			return treesOfDelivery(t, out.Resources)
		}
		t.Logf("phase %s: %s", out.Status.Phase, out.Status.Message)
		e.answerNeeds(t, out.Needs, in.Answers)
	}
	return nil
}

func treesOfDelivery(t *testing.T, resources map[string]deployment.Resource) map[string]tree.Files {
	t.Helper()
	out := map[string]tree.Files{}
	for _, r := range resources {
		d := &deliveryv1alpha1.GitDelivery{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.Object.Object, d); err != nil {
			t.Fatal(err)
		}
		for _, deliveredTree := range d.Spec.ForProvider.Trees {
			if len(deliveredTree.Files) == 0 {
				continue // A directory in tracks is composed once the ledger is recorded.
			}
			files, err := tree.Decode(deliveredTree.Files)
			if err != nil {
				t.Fatal(err)
			}
			out[deliveredTree.Site] = files
		}
	}
	return out
}

// answerNeeds answers needs as Crossplane would, with the defaults of the schemas.
func (e example) answerNeeds(t *testing.T, needs []catalog.Need, answers catalog.Answers) {
	t.Helper()
	for _, n := range needs {
		answers[n.Name] = []json.RawMessage{}
		for _, o := range e.catalog {
			if o.GetKind() != n.Kind || n.MatchName != "" && o.GetName() != n.MatchName || n.MatchLabels["channel"] != "" && o.GetLabels()["channel"] != n.MatchLabels["channel"] {
				continue
			}
			o = o.DeepCopy()
			if n.Kind == "Site" {
				_ = unstructured.SetNestedStringSlice(o.Object, []string{"{claimNamespace}"}, "spec", "targetNamespaces", "allowed")
			}
			b, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			answers[n.Name] = append(answers[n.Name], b)
		}
	}
}

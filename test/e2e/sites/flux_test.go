package sites

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestProof(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, siteDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	t.Logf("Live after %s, with Flux's intervals of an hour", s.expectSiteSync(y, "1"+isLive))
	if diff := cmp.Diff("one", s.configAtSite()); diff != "" {
		t.Fatalf("running config: -want, +got:\n%s", diff)
	}

	// An unmanaged commit on top, with the same directory.
	version := s.Now(y).GetResourceVersion()
	s.awaitApplied(s.commitUnmanaged(map[string]string{"clusters/edge2/x": "y\n"}))
	s.expectSiteSync(y, "1"+isLive)
	if now := s.Now(y).GetResourceVersion(); now != version {
		t.Errorf("an unmanaged commit was written into the status")
	}

	// The next revision, while Flux has not read it: the old commit is live, and that is not a proof.
	y = s.describeSync(2, "two")
	s.Apply(s.Set(y, []any{"Observe"}, "spec", "managementPolicies"))
	s.deliverRevision(2, "two")
	s.expectSiteSync(y, "2 | False | Syncing | Syncing | OtherTree")
	if diff := cmp.Diff("one", s.configAtSite()); diff != "" {
		t.Errorf("running config: -want, +got:\n%s", diff)
	}
	s.Apply(s.Set(y, []any{"*"}, "spec", "managementPolicies"))
	t.Logf("Live after %s", s.expectSiteSync(y, "2"+isLive))
	if diff := cmp.Diff("two", s.configAtSite()); diff != "" {
		t.Errorf("running config: -want, +got:\n%s", diff)
	}
}

func TestUnmanagedEdit(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, siteDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	s.expectSiteSync(y, "1"+isLive)
	s.awaitApplied(s.commitUnmanaged(map[string]string{s.Directory("edge1", claim) + "/a.yaml": string(s.filesOfRepository("theirs")["a.yaml"])}))
	s.expectSiteSync(y, "1 | False | Syncing | Syncing | OtherTree")
	s.awaitApplied(s.commitUnmanaged(map[string]string{s.Directory("edge1", claim) + "/a.yaml": string(s.filesOfRepository("one")["a.yaml"])}))
	s.expectSiteSync(y, "1"+isLive)
}

func TestSiteReasons(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, claimDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	s.expectSiteSync(y, "1"+isLive)
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":true}}`)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Suspended")
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":false}}`)
	s.lookAndExpect(y, "1"+isLive)
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"path":"./clusters/edge2"}}`)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | WrongSource")
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"path":"./`+s.path+`"}}`)
	s.lookAndExpect(y, "1"+isLive)
	s.Must(s.edge.Client.Delete(t.Context(), s.kustomizationAtSite()))
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | EngineObjectMissing")
	s.Inside("delete", "secret", secret)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | KubeconfigGone")
	s.createKubeconfig()
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | EngineObjectMissing")
	s.Delete(y)
	s.Gone(y)
}

func TestEngineFailure(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, claimDirectory)
	// No GitDelivery delivers malformed YAML.
	files := s.filesOfRepository("[")
	changes := map[string]string{}
	for name, content := range files {
		changes[s.path+"/"+name] = string(content)
	}
	s.commitUnmanaged(changes)
	files["placeholder"] = []byte(placeholder)
	y := s.describeSync(1, "[")
	sites := []any{map[string]any{
		"name": s.Site("edge1"), "path": s.path, "tree": tree.ID(files), "repositoryRef": map[string]any{"kind": "ProviderConfig", "name": scene.Config},
	}}
	s.Apply(s.Set(y, sites, "spec", "forProvider", "sites"))
	s.expectSiteSync(y, "1 | False | Failed | Failed | EngineFailed")
	if got := engineMessage(s.Now(y)); !strings.Contains(got, "BuildFailed") {
		t.Errorf("the message does not have the message of Flux: %q", got)
	}
}

// TestLeftAlone sets an annotation for Flux in the Site's cluster to leave an object alone. Flux goes to each commit and calls it applied, and the
// Site is not live before Flux applies the object again.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, claimDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	s.expectSiteSync(y, "1"+isLive)

	s.annotateConfigAtSite(`"disabled"`)
	y = s.describeSync(2, "two")
	s.Apply(y)
	s.deliverRevision(2, "two")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | NotApplied", "ConfigMap "+s.Namespace+"/a")
	if diff := cmp.Diff("one", s.configAtSite()); diff != "" {
		t.Errorf("running config: -want, +got:\n%s", diff)
	}

	s.annotateConfigAtSite("null")
	s.patchAtSite(s.kustomizationAtSite(), `{"metadata":{"annotations":{"`+requestedAt+`":"again"}}}`)
	s.lookAndExpect(y, "2"+isLive)
	if diff := cmp.Diff("two", s.configAtSite()); diff != "" {
		t.Errorf("running config: -want, +got:\n%s", diff)
	}
}

// annotateConfigAtSite sets the annotation in the Site's cluster that makes Flux skip the ConfigMap.
func (s *stage) annotateConfigAtSite(value string) {
	s.T.Helper()
	config := newFluxObject("v1", "ConfigMap", "a")
	config.SetNamespace(s.Namespace)
	s.patchAtSite(config, `{"metadata":{"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":`+value+`}}}`)
}

// TestSecretsOfTheEngine has a claim with a variable that the Site's Flux would replace by a value of the platform's Secret. Nothing is replaced; and where the
// Site accepts objects that Flux transformed, the claim is refused.
func TestSecretsOfTheEngine(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, siteDirectory)
	platform := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: kubernetes.FluxNamespace, Name: s.Namespace}, StringData: map[string]string{"TOKEN": "the-platforms"}}
	s.Must(s.edge.Client.Create(t.Context(), platform))
	s.patchAtSite(s.kustomizationAtSite(), fmt.Sprintf(`{"spec":{"postBuild":{"substituteFrom":[{"kind":"Secret","name":%q}]}}}`, s.Namespace))
	claim := s.Claim("shop", fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": 1, "parameters": {"greeting": "is it ${TOKEN}"}}`, s.Site("edge1")))
	s.Apply(claim)
	served := func() string {
		m := &corev1.ConfigMapList{}
		s.Must(s.edge.Client.List(t.Context(), m, client.InNamespace(s.Namespace), client.MatchingLabels{"intentplane.dev/claim": "shop"}))
		for _, o := range m.Items {
			if text, ok := o.Data["index.html"]; ok {
				return text
			}
		}
		return ""
	}
	s.Until("Flux applies the claim", patience.Limit, func() bool { return served() != "" })
	if diff := cmp.Diff("is it ${TOKEN}", served()); diff != "" {
		t.Fatalf("text that a tenant reads at the Site: -want, +got:\n%s", diff)
	}

	s.Apply(s.Set(s.describeFluxSite(), "Transformed", "spec", "engine", "acceptProof"))
	s.Apply(s.Set(claim, strings.Replace(scene.Field(claim, "spec", "intent"), "is it", "or", 1), "spec", "intent"))
	want := fmt.Sprintf("spec.intent: parameters.greeting: contains ${, and the GitOps engine of Site %q may replace", s.Site("edge1"))
	s.Await(claim, "refused", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && strings.Contains(scene.Field(u, "status", "message"), want)
	})
	if diff := cmp.Diff("is it ${TOKEN}", served()); diff != "" {
		t.Errorf("text that a tenant reads at the Site: -want, +got:\n%s", diff)
	}
}

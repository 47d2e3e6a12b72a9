package sites

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/scene"
)

func TestProof(t *testing.T) {
	t.Parallel()
	s := newStage(t, siteDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	t.Logf("Live after %s, with Flux's intervals of an hour", s.expectSiteSync(y, "1"+isLive))
	if diff := cmp.Diff("one", s.configAtSite()); diff != "" {
		t.Fatalf("running config: -want, +got:\n%s", diff)
	}

	// An unmanaged commit on top, with the same directory.
	version := s.Now(y).GetResourceVersion()
	s.awaitApplied(s.commit(map[string]string{"clusters/edge2/x": "y\n"}))
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
	s := newStage(t, siteDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	s.expectSiteSync(y, "1"+isLive)
	s.awaitApplied(s.commit(map[string]string{s.Directory("edge1", claim) + "/a.yaml": string(s.filesOfRepository("theirs")["a.yaml"])}))
	s.expectSiteSync(y, "1 | False | Syncing | Syncing | OtherTree")
	s.awaitApplied(s.commit(map[string]string{s.Directory("edge1", claim) + "/a.yaml": string(s.filesOfRepository("one")["a.yaml"])}))
	s.expectSiteSync(y, "1"+isLive)
}

func TestSiteReasons(t *testing.T) {
	t.Parallel()
	s := newStage(t, claimDirectory)
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
	s.kubeconfig()
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | EngineObjectMissing")
	s.Delete(y)
	s.Gone(y)
}

func TestEngineFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t, claimDirectory)
	// No GitDelivery delivers malformed YAML.
	files := s.filesOfRepository("[")
	changes := map[string]string{}
	for name, content := range files {
		changes[s.path+"/"+name] = string(content)
	}
	s.commit(changes)
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

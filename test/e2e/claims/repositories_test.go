package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestSiteWithItsOwnRepository(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	otherRepository := s.Namespace + "-other"
	if err := s.Git.CreateRepo(t.Context(), otherRepository, map[string]string{"README.md": "Not ours.\n"}); err != nil {
		t.Fatal(err)
	}
	s.Apply(s.Set(s.ClusterProviderConfig(), s.Git.URL(otherRepository), "spec", "git", "url"))
	s.Apply(s.Set(s.NewSite("edge2"), map[string]any{"name": s.Namespace}, "spec", "repository", "providerConfigRef"))
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2"))
	observed := s.Succeed(claim)

	want := map[string]string{s.Site("edge1"): s.AwaitCommits(1)[0].ID}
	log, err := s.Git.Log(t.Context(), otherRepository, "main")
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 2 {
		t.Fatalf("want one commit in the other repository, found %d", len(log)-1)
	}
	want[s.Site("edge2")] = log[0].ID
	got := map[string]string{}
	for site := range want {
		got[site] = scene.Field(observed, "status", "delivery", "sites", site, "commit")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commits of the Sites: -want, +got:\n%s", diff)
	}
	configs := map[string]string{}
	for _, d := range s.Deliveries() {
		configs[d.Spec.ForProvider.Trees[0].Site] = d.Spec.ProviderConfigReference.Kind + " " + d.Spec.ProviderConfigReference.Name
	}
	wantConfigs := map[string]string{s.Site("edge1"): "ProviderConfig " + scene.Config, s.Site("edge2"): "ClusterProviderConfig " + s.Namespace}
	if diff := cmp.Diff(wantConfigs, configs); diff != "" {
		t.Errorf("configurations of the GitDeliveries: -want, +got:\n%s", diff)
	}
	files, err := s.Git.Files(t.Context(), otherRepository, "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := files[s.Directory("edge2", "shop")+"/deployment-shop.yaml"]; !ok || len(s.FilesBelow("clusters/edge2")) != 0 {
		t.Errorf("files are in the wrong repository: %q beside %q", scene.Names(files), scene.Names(s.Files()))
	}
	deleteAndWantFirstState(t, s, otherRepository, claim.GetName())
}

// TestConfigurationReady waits, as an installation does, until configurations that no deployment uses reach their repositories, one of which has a wrong
// URL at first.
func TestConfigurationReady(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	ownConfig := "providerconfigs.config.intentplane.dev/" + scene.Config
	s.Inside("wait", "--for=condition=Ready", "--timeout="+patience.Limit.String(), ownConfig)
	if got := s.Inside("get", ownConfig, "--no-headers"); !strings.Contains(got, " True ") {
		t.Errorf("column READY: want True, got %s", got)
	}

	shared := s.Set(s.ClusterProviderConfig(), s.Git.URL(s.Namespace+"-none"), "spec", "git", "url")
	s.Apply(shared)
	observed := s.Await(shared, "a Ready that is False", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionFalse, "Unreachable")
	})
	if message := scene.Condition(observed, "Ready").Message; message == "" {
		t.Error("Ready does not say why the repository is not reached")
	}
	s.Apply(s.Set(s.ClusterProviderConfig(), s.Git.URL(s.Namespace), "spec", "git", "url"))
	s.Run("wait", "--for=condition=Ready", "--timeout="+patience.Limit.String(), "clusterproviderconfig/"+shared.GetName())
}

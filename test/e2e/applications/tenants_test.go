package applications

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

// TestTwoTenants has Applications of one name in the namespaces of two tenants, at one Site, with one configuration: each has its own files, its own
// repository in the registry and its own Secrets. The Application of the second tenant names the private source of the first one, and the Secret that the first
// tenant has for it. It reads neither, and its deletion changes nothing of the first Application.
func TestTwoTenants(t *testing.T) {
	t.Parallel()
	owner, neighbour := newSourceStage(t, claims), newSourceStage(t, namespaced)
	neighbour.useSiteOfTenant(owner)
	private := owner.guardSource()
	for s, token := range map[*sourceStage]string{owner: hookToken, neighbour: otherToken} {
		s.buildPrivately(private)
		s.giveWebhook(token)
	}
	owner.createSourceSecret(sourcePassword)
	owner.Apply(owner.app)
	image := owner.awaitRunning(private.first)
	owner.wantRegistryImage(image)

	neighbour.Apply(neighbour.app)
	neighbour.awaitBuildState("Waiting", "CredentialsGone")
	neighbour.createSourceSecret("a password of another tenant")
	u := neighbour.awaitBuildState("Waiting", "SourceDenied")
	if commit := scene.Field(u, "status", "source", "commit"); commit != "" || len(neighbour.buildsOfApplication()) > 0 {
		t.Errorf("a tenant without the password finds commit %q, with %d Builds", commit, len(neighbour.buildsOfApplication()))
	}
	if own, other := neighbour.postWebhook(otherToken, []byte("{}")), neighbour.postWebhook(hookToken, []byte("{}")); own != 202 || other != 404 {
		t.Errorf("a hook with the token of its tenant is answered with %d, and a hook with the token of another tenant with %d", own, other)
	}

	neighbour.editApplication(`{"spec":{"source":{"git":{"url":"` + neighbour.Git.URL(neighbour.repository) + `","secretRef":null}}}}`)
	neighboursImage := neighbour.awaitRunning(neighbour.first)
	neighbour.wantRegistryImage(neighboursImage)
	owner.wantRegistryImage(image)
	for s, want := range map[*sourceStage]string{owner: image, neighbour: neighboursImage} {
		if text := owner.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]; !strings.Contains(text, want) {
			t.Errorf("the files of %s do not have its image %s:\n%s", s.Namespace, want, text)
		}
	}
	owner.wantNotInGit("No password of a source is delivered.", sourcePassword)

	neighbour.Delete(neighbour.app)
	neighbour.Gone(neighbour.app)
	neighbour.Gone(neighbour.kpackObject("Image", "shop"))
	owner.awaitFilesGone(neighbour.Namespace)
	if u := owner.Now(owner.app); scene.Field(u, "status", "image") != image || scene.Number(u, "status", "deployment", "revision") != 1 || len(owner.podsOfImage(image)) != 1 {
		t.Errorf("the deletion of a neighbour changed the Application: %v", u.Object["status"])
	}
	second, err := private.Commit(t.Context(), privateRepository, "main", map[string]string{"main.txt": "private 2"}, "Version 2")
	owner.requireNoError(err)
	owner.requestRefresh(second)
	owner.wantRegistryImage(owner.awaitRunning(second))
}

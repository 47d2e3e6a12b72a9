package applications

import (
	"encoding/json"
	"strings"

	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
)

const (
	// sourceSecret is the name of the Secret with the password of a private repository, in the namespace of each tenant.
	sourceSecret = "source"

	sourceUser     = "robot"
	sourcePassword = "a password of one tenant"
)

// A privateSource is a repository of source code on a server that requires a password.
type privateSource struct {
	*gitserver.Server

	// url of the repository, and first its first commit.
	url, first string
}

// privateRepository is the name of that repository.
const privateRepository = "private"

// guardSource makes a private repository.
func (s *sourceStage) guardSource() *privateSource {
	s.T.Helper()
	server, err := gitserver.New(s.T.Context(), s.T.TempDir(), gitserver.WithBasicAuth(sourceUser, sourcePassword))
	s.requireNoError(err)
	s.T.Cleanup(server.Close)
	s.requireNoError(server.CreateRepo(s.T.Context(), privateRepository, map[string]string{"main.txt": "private 1"}))
	first, err := server.Git(s.T.Context(), privateRepository, "rev-parse", "main")
	s.requireNoError(err)
	return &privateSource{Server: server, url: server.URL(privateRepository), first: strings.TrimSpace(first)}
}

// buildPrivately lets the Application be built from a private repository, which it reads with a Secret of its namespace.
func (s *sourceStage) buildPrivately(p *privateSource) {
	s.T.Helper()
	s.Set(s.app, map[string]any{"url": p.url, "revision": "main", "secretRef": map[string]any{"name": sourceSecret}}, "spec", "source", "git")
}

// createSourceSecret creates the Secret with a password of a private repository.
func (s *sourceStage) createSourceSecret(password string) {
	s.T.Helper()
	s.createSecret(sourceSecret, map[string]string{"username": sourceUser, "password": password})
}

// useSiteOfTenant lets the Application use the Site, the configuration and so the repository of another tenant.
func (s *sourceStage) useSiteOfTenant(host *sourceStage) {
	s.T.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"allowedNamespaces": []string{host.Namespace, s.Namespace}}})
	s.requireNoError(err)
	s.Patch(host.NewSite("edge1"), string(patch))
	dir := s.Directory("edge1", "shop")
	_, err = s.Git.Commit(s.T.Context(), host.Namespace, "main", map[string]string{dir + "/placeholder": "An empty directory is none.\n"}, "A placeholder")
	s.requireNoError(err)
	s.requireNoError(s.edge.ApplyYAML(s.T.Context(), load.Kustomization(s.Namespace, s.Git.URL(host.Namespace), dir)))
	s.Set(s.app, []any{host.Site("edge1")}, "spec", "deploy", "sites")
	s.Set(s.app, host.Namespace, "spec", "deploy", "deliveryConfig", "gitOpsRepo", "name")
}

// awaitFilesGone waits until a repository has no Deployment of the Application of a namespace.
func (s *stage) awaitFilesGone(namespace string) {
	s.T.Helper()
	file := "clusters/edge1/" + namespace + "/shop/deployment-shop.yaml"
	s.Until(file+" leaves the repository", patience.Limit, func() bool { return s.Files()[file] == "" })
}

// wantNotInGit fails the test if a file of the repository has a text.
func (s *stage) wantNotInGit(reason, text string) {
	s.T.Helper()
	for name, content := range s.Files() {
		if strings.Contains(content, text) {
			s.T.Errorf("\n%s\n%s has it", reason, name)
		}
	}
}

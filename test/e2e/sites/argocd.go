package sites

import (
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const refresh = "argocd.argoproj.io/refresh"

// installArgoCD makes the control plane serve Applications, as Argo CD's own release describes them.
func (s *stage) installArgoCD() {
	s.T.Helper()
	crds, err := toolbox.Path(s.T.Context(), "ARGOCD_CRDS")
	s.Must(err)
	s.Must(s.ControlPlane.Apply(s.T.Context(), filepath.Join(crds, "application-crd.yaml")))
}

// awaitCompare waits for the refresh annotation of the Application, and removes it, as Argo CD's controller does after a refresh.
func (p *player) awaitCompare() {
	p.T.Helper()
	p.Await(p.main.Unstructured, "asked to refresh", func(u *unstructured.Unstructured) bool { return u.GetAnnotations()[refresh] == "normal" })
	p.Patch(p.main.Unstructured, `{"metadata":{"annotations":{"`+refresh+`":null}}}`)
}

package claims

import (
	"encoding/json"
	"os/exec"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/catalogview"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// An editor has the role edit of Kubernetes in the namespace of a scene, and no other right.
type editor struct {
	*scene.Scene

	name string
}

func newEditor(s *scene.Scene, name string) editor {
	s.T.Helper()
	s.Must(s.Client.Create(s.T.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	}))
	return editor{s, name}
}

// plugin returns the arguments of a command that the editor runs.
func (e editor) plugin(args ...string) []string {
	return append(args, "--as", e.name, "--namespace", e.Namespace, "--kubeconfig", cp.Kubeconfig)
}

// list runs a command with -o json until it reads the published catalog, and returns that. Before that, a command that names an object
// fails.
func (e editor) list(args ...string) string {
	e.T.Helper()
	var out []byte
	e.Until("the catalog is published", patience.Limit, func() bool {
		var err error
		out, err = exec.CommandContext(e.T.Context(), e.Built("kubectl-intent"), e.plugin(append(args, "-o", "json")...)...).Output()
		return err == nil && strings.Contains(string(out), `"configMap"`)
	})
	return string(out)
}

// sites returns the names of the Sites that the editor reads.
func (e editor) sites() []string {
	e.T.Helper()
	read := catalogview.List[catalogview.Site]{}
	e.Must(json.Unmarshal([]byte(e.list("sites")), &read))
	out := []string{}
	for _, s := range read.Items {
		// Other tests have Sites for all namespaces.
		if strings.HasPrefix(s.Name, e.Namespace) {
			out = append(out, strings.TrimPrefix(s.Name, e.Namespace+"-"))
		}
	}
	return out
}

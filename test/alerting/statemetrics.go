package alerting

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/typed"
)

const (
	// stateMetrics is the name of kube-state-metrics, and of its account.
	stateMetrics = "kube-state-metrics"

	// role is the name of the role that the documentation gives to that account.
	role = "kube-state-metrics-intentplane"

	// page is where the documentation does.
	page = "docs/operations/monitoring.md"
)

// StartStateMetrics starts the real kube-state-metrics with the configuration that is shipped, as an account with the rights that the documentation names and
// no others, and returns host and port of its metrics. It ends with the control plane. It returns an error if it was not built, or does not start.
func StartStateMetrics(ctx context.Context, cp *controlplane.ControlPlane) (string, error) {
	program, err := toolbox.Path(ctx, "KUBE_STATE_METRICS")
	if err != nil {
		return "", errors.Wrap(err, `cannot find kube-state-metrics: run "make tools"`)
	}
	root, err := toolbox.Root()
	if err != nil {
		return "", err
	}
	kubeconfig, err := cp.Account(ctx, controlplane.Namespace, stateMetrics)
	if err != nil {
		return "", err
	}
	if err := grantDocumentedRights(ctx, cp, root); err != nil {
		return "", err
	}
	ports, err := port.Free(2)
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	return address, cp.StartComponent(ctx, controlplane.Component{
		Name: stateMetrics, Ready: "http://" + address + "/healthz",
		Program: controlplane.Program{Binary: program, Args: []string{
			"--kubeconfig=" + kubeconfig, "--custom-resource-state-only",
			"--custom-resource-state-config-file=" + filepath.Join(root, "package", "observability", "kube-state-metrics.yaml"),
			"--host=127.0.0.1", fmt.Sprintf("--port=%d", ports[0]), "--telemetry-host=127.0.0.1", fmt.Sprintf("--telemetry-port=%d", ports[1]),
		}},
	})
}

// grantDocumentedRights applies the role that the documentation shows, and binds it to the account.
func grantDocumentedRights(ctx context.Context, cp *controlplane.ControlPlane, root string) error {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return errors.Wrap(err, "cannot read page")
	}
	blocks, err := typed.Blocks(page, string(text))
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if b.Language == typed.YAML && strings.Contains(b.Text, "name: "+role) {
			return errors.Join(cp.ApplyYAML(ctx, []byte(b.Text)), errors.Wrap(cp.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: controlplane.Namespace, Name: stateMetrics}},
			}), "cannot bind role"))
		}
	}
	return errors.Errorf("%s does not show ClusterRole %s", page, role)
}

package capt

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/port"
)

const (
	// captBinary and coreBinary are the variables that name the real controllers of CAPT, and of Cluster API's core.
	captBinary = "CAPT"
	coreBinary = "CLUSTERAPI_1_10"

	// nudge is how often CAPT is made to look. By itself it looks every 5 to 30 seconds, and at some objects never again.
	nudge = 500 * time.Millisecond
)

// themselves are the real controllers of CAPT and core. No test plays them.
type themselves struct{}

// othersOfRun returns the other controllers of this run.
func othersOfRun() others {
	if os.Getenv(captBinary) != "" {
		return themselves{}
	}
	return recorded{}
}

// startRealControllers starts the controllers of CAPT and of Cluster API's core, if the environment names them.
func startRealControllers(ctx context.Context) error {
	if os.Getenv(captBinary) == "" {
		return nil
	}
	if err := startCoreProvider(ctx); err != nil {
		return err
	}
	health, err := addressOfPlane()
	if err != nil {
		return err
	}
	return cp.StartComponent(ctx, controlplane.Component{Name: "capt", Ready: "http://" + health + "/readyz", Program: controlplane.Program{
		Binary: os.Getenv(captBinary), Args: []string{"--kubeconfig=" + cp.Kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=" + health},
	}})
}

// startCoreProvider starts the core without its webhooks: it serves them, and the API server does not call them.
func startCoreProvider(ctx context.Context) error {
	certificates := cp.File("core")
	crt, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return errors.Wrap(err, "cannot make certificate")
	}
	if err := os.MkdirAll(certificates, 0o700); err != nil {
		return errors.Wrap(err, "cannot make directory for certificate")
	}
	for name, b := range map[string][]byte{"tls.crt": crt, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(certificates, name), b, 0o600); err != nil {
			return errors.Wrap(err, "cannot write certificate")
		}
	}
	health, err := addressOfPlane()
	if err != nil {
		return err
	}
	webhook, err := addressOfPlane()
	if err != nil {
		return err
	}
	_, port, _ := strings.Cut(webhook, ":")
	return cp.StartComponent(ctx, controlplane.Component{Name: "core", Ready: "http://" + health + "/healthz", Program: controlplane.Program{
		Binary: os.Getenv(coreBinary), Env: []string{"POD_NAMESPACE=default", "POD_NAME=core", "POD_UID=core"},
		Args: []string{
			"--kubeconfig=" + cp.Kubeconfig, "--health-addr=" + health, "--diagnostics-address=127.0.0.1:0", "--insecure-diagnostics=true",
			"--webhook-cert-dir=" + certificates, "--webhook-port=" + port, "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
		},
	}})
}

func addressOfPlane() (string, error) {
	ports, err := port.Free(1)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0]), nil
}

// followCluster makes CAPT look at the present objects, from the first moment on until the test ends.
func (themselves) followCluster(s *stage, m moment) {
	if m != applied {
		return
	}
	s.applyYAML("WorkspaceTemplate", "metadata: {name: eks-kubeconfig-template, namespace: default}\nspec: {template: {spec: {forProvider: {source: Inline, module: ''}}}}")
	go wait.UntilWithContext(s.Context(), s.nudgeControllers, nudge)
}

// nudgeControllers nudges all that CAPT has of this cluster. A nudge between the making of a Workspace and the noting of its name leaves CAPT without it for
// ever, which is why few clusters are played at once: the more there are, the longer that takes.
func (s *stage) nudgeControllers(ctx context.Context) {
	objects := []client.Object{s.namedObject("CAPTCluster"), s.namedObject("CAPTControlPlane")}
	for _, suffix := range []string{"-vpc", "-eks-controlplane-apply", "-kubeconfig-apply"} {
		objects = append(objects, s.namedObject("WorkspaceTemplateApply", s.namespace+suffix))
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test/nudge":%q}}}`, time.Now().String())
	for _, o := range objects {
		// A missing object needs none.
		_ = kube.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}
}

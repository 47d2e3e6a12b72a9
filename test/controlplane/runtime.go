package controlplane

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/test/controlplane/certificate"
)

// serverSecret is the certificate of every program that serves a package.
const serverSecret = "package-tls-server"

// AnnotationEndpoint names the port of the program that serves the revision of a Function, where that is not the program that the control plane starts.
const AnnotationEndpoint = "test.intentplane.dev/port"

// ServingCertificates returns the directory with the certificate of every program that serves a package.
func (c *ControlPlane) ServingCertificates() string { return filepath.Join(c.Dir, servingCertificates) }

// servingCertificates is the name of that directory.
const servingCertificates = "tls-server"

// startRuntime does the work for packages that Crossplane leaves to others when it runs with --package-runtime=External.
func (c *ControlPlane) startRuntime(ctx, life context.Context) error {
	if err := c.issueServerCertificate(ctx); err != nil {
		return err
	}
	if err := c.moveEndpoints(ctx); err != nil {
		return err
	}
	life, c.epoch = context.WithCancel(life)
	if err := c.watchRevisions(life); err != nil {
		return err
	}
	if c.o.Function.Binary == "" {
		return nil
	}
	return c.startFunction(ctx)
}

// issueServerCertificate makes a certificate that Crossplane's core trusts, for Secret and file alike.
func (c *ControlPlane) issueServerCertificate(ctx context.Context) error {
	ca := &corev1.Secret{}
	if err := c.Client.Get(ctx, types.NamespacedName{Namespace: Namespace, Name: caSecret}, ca); err != nil {
		return errors.Wrap(err, "cannot get CA of Crossplane")
	}
	cert, key, err := certificate.Sign(ca.Data[corev1.TLSCertKey], ca.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return err
	}
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: serverSecret},
		Data:       map[string][]byte{caKey: ca.Data[corev1.TLSCertKey], corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key},
	}
	// The CA of a cluster that comes from a backup is the CA of the certificate.
	if err := client.IgnoreAlreadyExists(c.Client.Create(ctx, s)); err != nil {
		return errors.Wrap(err, "cannot create certificate of packages")
	}
	return c.writeServingCertificates(servingCertificates, s.Data)
}

// watchRevisions looks after every revision of a package, also of later ones.
func (c *ControlPlane) watchRevisions(life context.Context) error {
	mgr, err := ctrl.NewManager(c.Config, ctrl.Options{
		Scheme:                 c.Client.Scheme(),
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// One process may run several control planes, one after another.
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return errors.Wrap(err, "cannot make manager of package revisions")
	}
	f := reconcile.AsReconciler[*pkgv1.FunctionRevision](mgr.GetClient(), reconcile.ObjectReconciler[*pkgv1.FunctionRevision](functionRuntime{c}))
	if err := ctrl.NewControllerManagedBy(mgr).For(&pkgv1.FunctionRevision{}).Complete(f); err != nil {
		return errors.Wrap(err, "cannot watch function revisions")
	}
	p := reconcile.AsReconciler[*pkgv1.ProviderRevision](mgr.GetClient(), reconcile.ObjectReconciler[*pkgv1.ProviderRevision](providerRuntime{c}))
	if err := ctrl.NewControllerManagedBy(mgr).For(&pkgv1.ProviderRevision{}).Complete(p); err != nil {
		return errors.Wrap(err, "cannot watch provider revisions")
	}
	go func() {
		if err := mgr.Start(life); err != nil {
			c.fail(errors.Wrap(err, "cannot go on watching package revisions"))
		}
	}()
	return nil
}

// A functionRuntime shows Crossplane where a function is served.
type functionRuntime struct{ c *ControlPlane }

// Reconcile one revision. It returns an error, and is called again, when the status cannot be written.
func (r functionRuntime) Reconcile(ctx context.Context, rev *pkgv1.FunctionRevision) (reconcile.Result, error) {
	original := rev.DeepCopy()
	// Crossplane resolves a name of DNS with its settings, which no name server here has, for up to ten seconds.
	rev.Status.Endpoint = "passthrough:///localhost:" + cmp.Or(rev.GetAnnotations()[AnnotationEndpoint], strconv.Itoa(r.c.ports.function))
	rev.SetObservedTLSServerSecretName(new(serverSecret))
	rev.SetConditions(pkgv1.RuntimeHealthy())
	return r.c.updateStatus(ctx, original, rev)
}

// A providerRuntime shows Crossplane that a provider runs, and gives it the permissions that Crossplane gives a provider.
type providerRuntime struct{ c *ControlPlane }

// Reconcile one revision. It returns an error, and is called again, when the binding or the status cannot be written.
func (r providerRuntime) Reconcile(ctx context.Context, rev *pkgv1.ProviderRevision) (reconcile.Result, error) {
	if err := r.c.bindProvider(ctx, rev.GetName()); err != nil {
		return reconcile.Result{}, err
	}
	original := rev.DeepCopy()
	rev.SetObservedTLSServerSecretName(new(serverSecret))
	rev.SetConditions(pkgv1.RuntimeHealthy())
	return r.c.updateStatus(ctx, original, rev)
}

func (c *ControlPlane) updateStatus(ctx context.Context, original, updated client.Object) (reconcile.Result, error) {
	if updated.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(original, updated) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, errors.Wrap(c.Client.Status().Update(ctx, updated), "cannot update status")
}

// bindProvider gives the provider's account the ClusterRole that the RBAC manager makes for a revision. The manager's own binding
// has no subjects, for it takes them from a Deployment.
func (c *ControlPlane) bindProvider(ctx context.Context, revision string) error {
	crb := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "harness:provider:" + revision},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "crossplane:provider:" + revision + ":system"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: ProviderServiceAccount}},
	}
	return errors.Wrap(client.IgnoreAlreadyExists(c.Client.Create(ctx, crb)), "cannot bind ClusterRole of provider")
}

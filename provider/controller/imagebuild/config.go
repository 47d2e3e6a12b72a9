package imagebuild

import (
	"cmp"
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/kpack"
)

// defaultServiceAccount is the service account of a configuration that names none.
const defaultServiceAccount = "default"

// readBuildConfig reads the configuration into the facts, and fills in its defaults. It says why nothing may be built.
func (e *external) readBuildConfig(ctx context.Context, b *v1alpha1.ImageBuild, f *facts) error {
	ref := b.GetProviderConfigReference()
	if ref == nil || ref.Kind != policy.KindClusterProviderConfig {
		f.refused = &problem{reason: v1alpha1.ReasonPolicyDenied, message: "spec.providerConfigRef: only a ClusterProviderConfig says how images are built"}
		return nil
	}
	c := &configv1alpha1.ClusterProviderConfig{}
	err := e.kube.Get(ctx, client.ObjectKey{Name: ref.Name}, c)
	if kerrors.IsNotFound(err) {
		f.refused = &problem{reason: v1alpha1.ReasonConfigurationMissing, message: fmt.Sprintf("ClusterProviderConfig %q does not exist", ref.Name)}
		return nil
	}
	if err != nil {
		return errors.Wrapf(err, "cannot get ClusterProviderConfig %q", ref.Name)
	}
	if f.refused = checkRequest(b, c, f); f.refused != nil {
		return nil
	}
	f.refused = checkAddress(e.guard, &f.spec.Source)
	f.fillInDefaults(c.Spec.Build)
	return nil
}

// checkRequest returns why the configuration does not allow the build, or nil.
func checkRequest(b *v1alpha1.ImageBuild, c *configv1alpha1.ClusterProviderConfig, f *facts) *problem {
	if claim := f.spec.ClaimRef; claim.Namespace != b.GetNamespace() {
		message := fmt.Sprintf("spec.forProvider.claimRef.namespace: %q is not the namespace of the ImageBuild", claim.Namespace)
		return &problem{reason: v1alpha1.ReasonPolicyDenied, message: message}
	}
	if err := policy.CheckConfig(policy.KindClusterProviderConfig, &c.Spec, b.GetNamespace()); err != nil {
		return &problem{reason: v1alpha1.ReasonPolicyDenied, message: err.Error()}
	}
	if err := policy.CheckBuild(c.Spec.Build, &f.spec); err != nil {
		return &problem{reason: v1alpha1.ReasonPolicyDenied, message: err.Error()}
	}
	if source := f.spec.Source.Git; source != nil {
		if err := refs.CheckRevision(source.Revision); err != nil {
			return &problem{reason: v1alpha1.ReasonInvalid, message: "source.git.revision: " + err.Error()}
		}
	}
	return nil
}

// fillInDefaults fills in the configuration's values where the spec has none.
func (f *facts) fillInDefaults(c *configv1alpha1.Build) {
	f.plan.Tag = kpack.ImageRepository(c.Registry, f.plan.Namespace, f.plan.Name)
	f.plan.ServiceAccount = cmp.Or(string(f.spec.ServiceAccountName), string(c.ServiceAccountName), defaultServiceAccount)
	builder := cmp.Or(f.spec.Builder, c.Builder)
	if builder != nil {
		f.plan.Builder = *builder
		f.plan.Builder.Default()
	}
}

// sourceServer returns the server of a source, with the credentials of its Secret. It returns a GoneError or an InvalidError of package credentials.
func (c *connector) sourceServer(ctx context.Context, namespace string, source *v1alpha1.GitSource) (transport.Server, error) {
	guard := c.guard
	out := transport.Server{URL: source.URL, Guard: &guard}
	if source.SecretRef == nil {
		return out, nil
	}
	secrets, err := credentials.Read(ctx, c.kube, credentials.Config{Kind: policy.KindProviderConfig, Namespace: namespace, Guard: guard, Remote: sourceRemote(source)})
	if err != nil {
		return out, err
	}
	out.Auth, out.KnownHosts = secrets.Auth, secrets.KnownHosts
	if err := out.Validate(); err != nil {
		return out, &credentials.InvalidError{Field: "source.git", Detail: err.Error()}
	}
	return out, nil
}

// sourceRemote returns how the Secret of a source is read: by its URL it is for ssh, or has a user and a password.
func sourceRemote(source *v1alpha1.GitSource) configv1alpha1.GitRemote {
	credentialsType := configv1alpha1.CredentialsBasic
	if u, err := policy.ParseRepositoryURL(source.URL); err == nil && u.Scheme == "ssh" {
		credentialsType = configv1alpha1.CredentialsSSH
	}
	secret := &configv1alpha1.SecretReference{Name: string(source.SecretRef.Name)}
	return configv1alpha1.GitRemote{URL: source.URL, Credentials: configv1alpha1.Credentials{Type: credentialsType, SecretRef: secret}}
}

package clusters

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/clusters/account"
)

// An Error says why a cluster could not be read. Its text is stable, and holds nothing that the cluster sent.
type Error struct {
	// Reason is one of the reasons of a Site.
	Reason string
	// Detail explains it.
	Detail string

	// passing trouble is tried again at once, and means nothing.
	passing bool
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

func (e *Error) reasonOrNone() string {
	if e == nil {
		return ""
	}
	return e.Reason + e.Detail
}

func unansweredError() *Error {
	return &Error{Reason: v1alpha1.SiteReasonClusterUnreachable, Detail: "the cluster does not answer"}
}

// classifyError returns the Error for an error of the API server that a connection leads to. It returns nil for none. In the cluster of the control plane
// the provider has no kubeconfig: the platform team gives it its rights there, not the owner of another cluster.
func (l *link) classifyError(err error) *Error {
	out := classifyError(err)
	if out != nil && out.Reason == v1alpha1.SiteReasonAccessDenied && l.key == homeLink {
		return &Error{Reason: v1alpha1.SiteReasonProviderAccessDenied, Detail: "the provider's service account may not read the engine's objects in the cluster of the control plane"}
	}
	return out
}

// classifyError returns the Error for an error of an API server. It returns nil for none.
func classifyError(err error) *Error {
	var (
		refusal   *address.RefusedError
		authority x509.UnknownAuthorityError
		cert      *tls.CertificateVerificationError
		exceeded  *account.AnswerError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exceeded):
		return &Error{Reason: v1alpha1.SiteReasonClusterUnreachable, Detail: exceeded.Detail}
	case kerrors.IsResourceExpired(err), kerrors.IsGone(err), kerrors.IsConflict(err):
		return &Error{Reason: v1alpha1.SiteReasonClusterUnreachable, Detail: "the cluster forgot where we were", passing: true}
	case kerrors.IsNotFound(err), kerrors.IsMethodNotSupported(err):
		return &Error{Reason: v1alpha1.SiteReasonEngineNotInstalled, Detail: "the cluster does not serve the engine's kind"}
	case kerrors.IsUnauthorized(err):
		return &Error{Reason: v1alpha1.SiteReasonKubeconfigDenied, Detail: "the cluster does not accept the credentials"}
	case kerrors.IsForbidden(err):
		return &Error{Reason: v1alpha1.SiteReasonAccessDenied, Detail: "the credentials may not read the engine's objects"}
	case errors.As(err, &refusal):
		return &Error{Reason: v1alpha1.SiteReasonKubeconfigRefused, Detail: "the kubeconfig leads to an address that may not be reached"}
	case errors.As(err, &authority), errors.As(err, &cert):
		return &Error{Reason: v1alpha1.SiteReasonClusterUnreachable, Detail: "the cluster's certificate is not trusted"}
	}
	return unansweredError()
}

package server

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// IsNotFound is true for an object that does not exist, of a kind that the server serves.
func IsNotFound(err error) bool { return kerrors.IsNotFound(err) && !IsUnknownKind(err) }

// IsUnknownKind is true for a kind that the server does not serve: its 404 is not about an object.
func IsUnknownKind(err error) bool {
	return kerrors.IsNotFound(err) && kerrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// IsAbsent is true for an object that does not exist, as far as the user may know.
func IsAbsent(err error) bool {
	return IsNotFound(err) || IsUnknownKind(err) || kerrors.IsForbidden(err)
}

// DescribeError adds the remedy of a person to the error of a request about an object, or about a resource if the name is empty.
func DescribeError(err error, verb string, resource schema.GroupVersionResource, name string) error {
	return appendRemedy(err, verb, resource, name, "")
}

// DescribeNeedError is DescribeError for an object that a command also reads from files.
func DescribeNeedError(err error, verb string, resource schema.GroupVersionResource, name string) error {
	return appendRemedy(err, verb, resource, name, ", or give the object in a file")
}

// appendRemedy adds the remedy of a person to an error, and for a missing right an alternative to it, which may be empty.
func appendRemedy(err error, verb string, resource schema.GroupVersionResource, name, alternative string) error {
	subject, objectPronoun := resource.GroupResource().String(), "them"
	if name != "" {
		subject, objectPronoun = subject+"/"+name, "it"
	}
	switch {
	case IsUnknownKind(err):
		return errors.Errorf("cannot %s %s: the cluster does not have %s in version %s: is Intentplane installed there?", verb, subject, resource.GroupResource(), resource.Version)
	case kerrors.IsForbidden(err), kerrors.IsUnauthorized(err):
		return errors.Wrapf(err, "cannot %s %s: ask for the right to %s %s (examples/rbac has the roles)%s", verb, subject, verb, objectPronoun, alternative)
	}
	return errors.Wrapf(err, "cannot %s %s", verb, subject)
}

// UnreadReason returns the cause of an error of reading, in few words.
func UnreadReason(err error) string {
	switch {
	case kerrors.IsForbidden(err):
		return "the user may not read them"
	case IsUnknownKind(err):
		return "the cluster does not have this kind"
	case errors.Is(err, context.DeadlineExceeded):
		return "the cluster did not answer in time"
	}
	return err.Error()
}

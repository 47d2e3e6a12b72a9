package remote

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestReasonOf(t *testing.T) {
	cases := map[string]struct {
		reason     string
		err        error
		want       xpv2.ConditionReason
		isUnusable bool
	}{
		"Gone": {
			reason: "A missing Secret is reported, also by an error around it.",
			err:    errors.Wrap(&credentials.GoneError{Field: "spec.git", Detail: "Secret creds does not exist"}, "cannot open"),
			want:   v1alpha1.ReasonCredentialsGone, isUnusable: true,
		},
		"Invalid": {
			reason: "A credential that is not valid is reported.",
			err:    &credentials.InvalidError{Field: "spec.git"}, want: v1alpha1.ReasonInvalid, isUnusable: true,
		},
		"Denied": {
			reason: "A configuration that is not for the namespace is reported.",
			err:    &deniedError{err: errors.New("not for team-b")}, want: v1alpha1.ReasonPolicyDenied, isUnusable: true,
		},
		"Auth": {reason: "A class of failures has its own reason.", err: &failure.Error{Class: failure.ClassAuth}, want: v1alpha1.ReasonAuthFailed},
		"Unreachable": {
			reason: "A failure without a class means that the repository was not reached.",
			err:    errors.New("connection reset"), want: v1alpha1.ReasonUnreachable,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ReasonOf(tc.err)); diff != "" || IsUnusable(tc.err) != tc.isUnusable {
				t.Errorf("\n%s\nIsUnusable(...): got %t, ReasonOf(...): -want, +got:\n%s", tc.reason, IsUnusable(tc.err), diff)
			}
		})
	}
}

func TestMessageOf(t *testing.T) {
	err := &failure.Error{Class: failure.ClassPolicy, Detail: "cannot push"}
	silent := MessageOf(errors.Wrap(err, "later"))
	err.Remote = "only on Mondays"
	if diff := cmp.Diff(silent+". The server says: only on Mondays", MessageOf(errors.Wrap(err, "later"))); diff != "" {
		t.Errorf("\nThe message ends in the words of the server.\nMessageOf(...): -want, +got:\n%s", diff)
	}
}

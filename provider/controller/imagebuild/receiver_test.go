package imagebuild

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestTokenOfUnserved has a hook before the API server serves ImageBuilds: it reads none, which would make it ask for all kinds.
func TestTokenOfUnserved(t *testing.T) {
	r := newReceiver(nil, nil, nil)
	r.checkServed = func(context.Context) error { return errors.New("the kind is not served") }
	if token, err := r.TokenOf(t.Context(), key()); err == nil || token != nil {
		t.Errorf("A hook before its kind is served comes again later: TokenOf(...): %q, %v", token, err)
	}
}

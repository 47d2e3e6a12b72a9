package rendering

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/function/compile"
)

func TestWrapWithSite(t *testing.T) {
	if err := wrapWithSite("edge1", nil); err != nil {
		t.Errorf("A nil error stays nil: %v", err)
	}
	if diff := cmp.Diff("TooLarge", compile.ReasonOf(wrapWithSite("edge1", compile.ErrorWithReason("TooLarge", errors.New("a"))))); diff != "" {
		t.Errorf("A Site changes no reason: -want, +got:\n%s", diff)
	}
}

package transport

import (
	"testing"

	"github.com/intentplane/intentplane/provider/address"
)

func TestUnknownVisitIsConcealed(t *testing.T) {
	if !newRoute(&address.Guard{}).isConcealed(t.Context()) {
		t.Error("The cause is concealed where it is not known what an operation visited.\nisConcealed(...): want true")
	}
}

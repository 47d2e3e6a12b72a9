package transport

import (
	"testing"

	"github.com/intentplane/intentplane/provider/address"
)

func TestUnknownVisitIsConcealed(t *testing.T) {
	if !newServerRoute(&address.Guard{}).isConcealed(t.Context()) {
		t.Error("The cause is concealed where the visited addresses of an operation are unknown.\nisConcealed(...): want true")
	}
}

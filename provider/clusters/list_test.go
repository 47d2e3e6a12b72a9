package clusters

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// page is an answer with so many objects, and reports further objects unless it is the last page.
func page(objects int, last bool) string {
	items := make([]string, objects)
	for i := range items {
		items[i] = small(fmt.Sprintf("o-%d", i))
	}
	head := listHead
	if !last {
		head = strings.Replace(listHead, `"metadata":{`, `"metadata":{"continue":"next",`, 1)
	}
	return head + strings.Join(items, ",") + "]}"
}

func hasEnded(end <-chan struct{}) bool {
	select {
	case <-end:
		return true
	default:
		return false
	}
}

// memoryOfPage returns how much memory the objects of a page take.
func memoryOfPage(t *testing.T, objects int) int64 {
	t.Helper()
	l := &unstructured.UnstructuredList{}
	if err := l.UnmarshalJSON([]byte(page(objects, true))); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for i := range l.Items {
		stripUnreadFields(&l.Items[i])
		size += memoryOf(l.Items[i].Object)
	}
	return size
}

// TestListsOfTenantShareMemory has two clusters of a tenant listed at the same time. Each list alone has room, and both together do not: the
// second list is read when the first has ended.
func TestListsOfTenantShareMemory(t *testing.T) {
	end := make(chan struct{})
	slow, fast := newAPIServer(t), newAPIServer(t)
	serve := func(first http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Query().Get("watch") != "" {
				waitForClose(w, r)
				return
			}
			first(w, r)
		})
	}
	slow.Config.Handler = serve(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" && !hasEnded(end) {
			_, _ = io.WriteString(w, page(500, false))
			return
		}
		select {
		case <-end:
			http.Error(w, "", http.StatusForbidden)
		case <-r.Context().Done():
		}
	})
	fast.Config.Handler = serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page(500, true)) })
	p := newPool(t)
	size := memoryOfPage(t, 500)
	p.accounts = NewAccounts(Bounds{Store: size * 3 / 2})
	begin := func(reader string, s *apiServer) *watch {
		l := p.Look(owner(reader))
		defer l.Done()
		c, err := l.Remote(s.kubeconfig(canary), Access{Tenant: "team-a"})
		if err != nil {
			t.Fatal(err)
		}
		return c.watchFor(ref("o-1"), watchKey{resource: ref("").Resource, namespace: "flux"}, nil)
	}
	first, began := begin("a", slow), time.Now()
	for first.account.memory.used.Load() < size { // Until the first page is decoded.
		if time.Since(began) > inTime {
			t.Fatalf("The first list reserves the memory of its page.\nlisting: want %d bytes, got %d", size, first.account.memory.used.Load())
		}
		<-time.After(time.Millisecond)
	}
	second := begin("b", fast)
	read := func() string {
		s, err := second.waitUntilSettled(t.Context())
		var failure *Error
		if errors.As(err, &failure) {
			return failure.Reason + ": " + failure.Detail
		}
		o, _ := s.getObject("flux", "o-1")
		return o.GetName()
	}
	const want = v1alpha1.SiteReasonClusterUnreachable + ": other clusters of the same tenant are listed at the same time, and their lists share memory"
	p.expect("The lists of a tenant have one share of memory together.", want, read())
	close(end)
	p.until("A list whose tenant has memory again is read.", "o-1", read)
	if used := first.account.memory.used.Load(); used != size {
		t.Errorf("A list that ended gives its memory back, and the objects of the other one take their own.\nmemory: want %d bytes, got %d", size, used)
	}
}

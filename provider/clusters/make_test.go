package clusters

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/provider/listing"
)

// servePods answers lists of so many pods of a size, page by page, as an API server does. After a page number it refuses.
func servePods(pods, bytes, refusedFrom int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		if refusedFrom > 0 && first >= refusedFrom {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		items, next := []string{}, ""
		for i := first; i < min(first+limit, pods); i++ {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"p-%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", bytes)))
		}
		if first+limit < pods {
			next = strconv.Itoa(first + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"PodList","metadata":{"continue":"`+next+`"},"items":[`+strings.Join(items, ",")+`]}`)
	}
}

func TestEachListed(t *testing.T) {
	type want struct {
		pods int
		err  bool
	}
	cases := map[string]struct {
		reason  string
		handler http.HandlerFunc
		want    want
	}{
		"Few":    {reason: "A list of one page ends with that page.", handler: servePods(3, 10, 0), want: want{pods: 3}},
		"Many":   {reason: "Each object of a long list is passed on.", handler: servePods(101, 10, 0), want: want{pods: 101}},
		"Large":  {reason: "Objects that are too large together are listed one after the other.", handler: servePods(5, 400<<10, 0), want: want{pods: 5}},
		"Huge":   {reason: "An object that is too large alone ends the list with an error.", handler: servePods(2, 2*mebibyte, 0), want: want{err: true}},
		"Denied": {reason: "A refused page ends the list with an error, after the previous pages.", handler: servePods(30, 10, 20), want: want{pods: 20, err: true}},
		"Empty":  {reason: "A list without objects is empty.", handler: servePods(0, 10, 0)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, p := newAPIServer(t), newPool(t)
			s.Config.Handler = tc.handler
			l := p.Look(owner("a"))
			defer l.Done()
			c, err := l.Remote(s.kubeconfig(canary), Access{Tenant: "team-a"})
			if err != nil {
				t.Fatal(err)
			}
			got := want{}
			err = c.EachListed(t.Context(), pods(), "team-a", "a=b", func(page []unstructured.Unstructured) { got.pods += len(page) })
			got.err = err != nil
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nEachListed(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestVisitedPageCounts lists large pods of a tenant's cluster.
func TestVisitedPageCounts(t *testing.T) {
	s, p := newAPIServer(t), newPool(t)
	s.Config.Handler = servePods(2, 200<<10, 0)
	l := p.Look(owner("a"))
	defer l.Done()
	c, err := l.Remote(s.kubeconfig(canary), Access{Tenant: "team-a"})
	if err != nil {
		t.Fatal(err)
	}
	held := int64(0)
	err = c.VisitFew(t.Context(), pods(), "team-a", "a=b", func([]unstructured.Unstructured) { held = c.link.account.Memory().Used() })
	if err != nil || held < 400<<10 || c.link.account.Memory().Used() != 0 {
		t.Errorf("\nThe account of the cluster pays for pods as long as they are visited.\nVisitFew(...): %v, %d bytes, and %d after it",
			err, held, c.link.account.Memory().Used())
	}
}

// TestHomeListsHaveTurns lists pods of the provider's own cluster that are larger than a page, and then while lists of the namespace have all of its pages.
func TestHomeListsHaveTurns(t *testing.T) {
	s := newAPIServer(t)
	s.Config.Handler = servePods(12, 1000<<10, 0)
	cfg := &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	cfg.Wrap(listing.BoundResponses)
	p := newPool(t)
	p.dial = Dialer(cfg, Limits{})
	l := p.Look(owner("a"))
	defer l.Done()
	c, err := l.Home()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	count := func(page []unstructured.Unstructured) { seen += len(page) }
	if err := c.EachListed(t.Context(), pods(), "team-a", "a=b", count); err != nil || seen != 12 {
		t.Errorf("\nObjects that are too large together are listed a few at a time.\nEachListed(...): %v, %d pods", err, seen)
	}
	s.Config.Handler = servePods(1, 10, 0)
	end := make(chan struct{})
	defer close(end)
	began := make(chan struct{}, 2)
	for range 2 {
		go func() {
			_, _ = listing.ReadPage(t.Context(), "team-a", func(context.Context) error { began <- struct{}{}; <-end; return nil })
		}()
		<-began
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.EachListed(ctx, pods(), "team-a", "a=b", count); err == nil {
		t.Error("\nA list of the provider's own cluster waits for the pages of its namespace.\nEachListed(...): want an error")
	}
}

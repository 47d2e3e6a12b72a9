package state

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// secretOfManyPackages returns a Secret of some ten KiB with a record of megabytes.
func secretOfManyPackages(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	s := &BundleState{Schema: Schema, Name: name, Status: Success}
	for i := range 800 {
		s.PkgStatuses = append(s.PkgStatuses, PkgStatus{Name: fmt.Sprintf("%s-%d", strings.Repeat("p", 1000), i), Status: Success})
	}
	s.PkgStatuses = append(s.PkgStatuses, PkgStatus{Name: "shop", Status: Success})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: Prefix + name}, Type: SecretType}
	if err := encodeSecret(s, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// serveSecrets serves copies of a Secret in pages, under names of their own.
func serveSecrets(t *testing.T, secret *corev1.Secret, prefix string, count int) kubernetes.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		list := corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
		for i := first; i < min(first+limit, count); i++ {
			s := *secret.DeepCopy()
			s.Name = fmt.Sprintf("%s%03d", prefix, i)
			list.Items = append(list.Items, s)
		}
		if first+limit < count {
			list.Continue = strconv.Itoa(first + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

func liveHeap() uint64 {
	stats := runtime.MemStats{}
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestEachRecordHoldsOne reads 60 records of megabytes, which a tenant made of small Secrets. The last one takes as much memory as the first one.
func TestEachRecordHoldsOne(t *testing.T) {
	const count, limit = 60, 16 << 20
	c, err := NewClient(serveSecrets(t, secretOfManyPackages(t, "platform"), "theirs-", count), Options{Namespace: "team-a"})
	if err != nil {
		t.Fatal(err)
	}
	first, last, read := uint64(0), uint64(0), 0
	err = c.EachRecord(t.Context(), func(_ string, s *BundleState, err error) {
		if err != nil || !s.Uses("shop") {
			t.Errorf("record %d: %v", read, err)
		}
		switch read++; read {
		case 1:
			first = liveHeap()
		case count:
			last = liveHeap()
		}
	})
	if err != nil || read != count {
		t.Errorf("EachRecord(...): %d records, %v", read, err)
	}
	if last > first+limit {
		t.Errorf("EachRecord(...) holds %d MiB with the first record, and %d MiB with %d records", first>>20, last>>20, count)
	}
}

// TestPageBoundsLists lists records by a function that calls a page too large as long as it has several Secrets.
func TestPageBoundsLists(t *testing.T) {
	secret := secretOfManyPackages(t, "platform")
	cases := map[string]struct {
		reason string
		// tooLarge is the number of calls after which pages are small enough.
		tooLarge int
		want     []any
	}{
		"Once":    {reason: "The function runs each request of a page.", want: []any{2, 6, false}},
		"Smaller": {reason: "A page that is too large is requested again with one Secret.", tooLarge: 1, want: []any{7, 6, false}},
		"Always":  {reason: "A Secret that is too large ends the list.", tooLarge: 100, want: []any{2, 0, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			calls, records := 0, 0
			page := func(ctx context.Context, read func(context.Context) error) (bool, error) {
				if calls++; calls <= tc.tooLarge {
					return true, nil
				}
				return false, read(ctx)
			}
			c, err := NewClient(serveSecrets(t, secret, "theirs-", 6), Options{Namespace: "team-a", Page: page})
			if err != nil {
				t.Fatal(err)
			}
			err = c.EachRecord(t.Context(), func(string, *BundleState, error) { records++ })
			if diff := cmp.Diff(tc.want, []any{calls, records, err != nil}); diff != "" {
				t.Errorf("\n%s\nEachRecord(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestUsersOf(t *testing.T) {
	secret := secretOfManyPackages(t, "platform")
	cases := map[string]struct {
		reason string
		prefix string
		pkg    string
		except []string
		want   []string
	}{
		"Used":   {reason: "A bundle that has the package uses it, and is named once.", prefix: "theirs-", pkg: "shop", want: []string{"platform"}},
		"Unused": {reason: "A package of no bundle has no user.", prefix: "theirs-", pkg: "web", want: []string{}},
		"Except": {
			reason: "Records of bundles that are left out are not read.",
			prefix: Prefix, pkg: "shop", except: []string{"000", "001", "002"}, want: []string{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := NewClient(serveSecrets(t, secret, tc.prefix, 3), Options{Namespace: "team-a"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.UsersOf(t.Context(), tc.pkg, tc.except...)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("\n%s\nUsersOf(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

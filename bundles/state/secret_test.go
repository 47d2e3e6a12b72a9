package state

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// packed compresses a text, as often as is said, one stream behind the other.
func packed(tb testing.TB, text []byte, times int) []byte {
	tb.Helper()
	out := &bytes.Buffer{}
	w := gzip.NewWriter(out)
	for range times {
		if _, err := w.Write(text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func secretOf(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "intentplane-bundle-a"}, Data: data}
}

func plainSecret(text string) *corev1.Secret {
	return secretOf(map[string][]byte{"data": []byte(text)})
}

func TestDecode(t *testing.T) {
	const record = `{"name":"a","status":"success","schema":1}`
	gibibyte := packed(t, make([]byte, 1<<20), 1<<10)
	cases := map[string]struct {
		reason string
		secret *corev1.Secret
		want   error
		says   string
	}{
		"Plain": {reason: "A plain record is read.", secret: plainSecret(record)},
		"Gzip":  {reason: "A compressed record is read.", secret: secretOf(map[string][]byte{"data.gz": packed(t, []byte(record), 1)})},
		"PlainCounts": {
			reason: "A plain record beside a compressed one counts, since who wrote it does not know the other.",
			secret: secretOf(map[string][]byte{"data": []byte(record), "data.gz": []byte("no")}),
		},
		"Legacy": {
			reason: "A record without a schema is one of uds-cli.",
			secret: plainSecret(`{"name":"a","version":"1","packages":null,"status":"deploying"}`),
		},
		"NoData": {reason: "A Secret without data has no record.", secret: secretOf(nil), want: ErrBroken, says: "it has neither data nor data.gz"},
		"Empty":  {reason: "An empty record is broken.", secret: plainSecret(""), want: ErrBroken, says: "delete it and deploy the bundle again"},
		"Half":   {reason: "Half of a record is broken.", secret: plainSecret(record[:20]), want: ErrBroken},
		"NoName": {reason: "A record has to name its bundle.", secret: plainSecret(`{"status":"success"}`), want: ErrBroken, says: "names no bundle"},
		"Null":   {reason: "A null is not a record.", secret: plainSecret(`null`), want: ErrBroken},
		"Newer": {
			reason: "A newer schema is not read.",
			secret: plainSecret(`{"name":["anything"],"schema":99}`), want: ErrNewer, says: "has schema 99, and this program knows those up to 1",
		},
		"Negative":   {reason: "A schema below zero does not exist.", secret: plainSecret(`{"name":"a","status":"success","schema":-1}`), want: ErrBroken},
		"TextSchema": {reason: "A schema is a number.", secret: plainSecret(`{"name":"a","status":"success","schema":"99"}`), want: ErrBroken},
		"NoGzip":     {reason: "Bytes that are not compressed are broken there.", secret: secretOf(map[string][]byte{"data.gz": []byte(record)}), want: ErrBroken},
		"CutGzip": {
			reason: "Half of a compressed record is broken.",
			secret: secretOf(map[string][]byte{"data.gz": packed(t, []byte(record), 1)[:20]}), want: ErrBroken,
		},
		"Bomb": {
			reason: "A gibibyte that was compressed is not unpacked.",
			secret: secretOf(map[string][]byte{"data.gz": gibibyte}), want: ErrBroken, says: "more than 8388608 bytes",
		},
		"Status": {
			reason: "A bundle cannot have the status of a package.",
			secret: plainSecret(`{"name":"a","status":"removed"}`), want: ErrBroken, says: `a bundle cannot be "removed"`,
		},
		"Package": {
			reason: "A package cannot have an unknown status.",
			secret: plainSecret(`{"name":"a","status":"success","packages":[{"name":"p","status":"odd"}]}`), want: ErrBroken,
			says: `package "p" has status "odd", which is none that this version knows: not_deployed`,
		},
		"Unnamed": {
			reason: "A package has a name.",
			secret: plainSecret(`{"name":"a","status":"success","packages":[{"status":"success"}]}`), want: ErrBroken,
			says: `a package with status "success" has no name`,
		},
		"Twice": {
			reason: "A package can be in a record once.",
			secret: plainSecret(`{"name":"a","status":"success","packages":[{"name":"p","status":"success"},{"name":"p","status":"success"}]}`),
			want:   ErrBroken, says: `package "p" is there twice`,
		},
		"Date": {reason: "A date has to be one.", secret: plainSecret(`{"name":"a","status":"success","date_updated":"yesterday"}`), want: ErrBroken},
		"Deep": {reason: "JSON that is nested deeply is broken.", secret: plainSecret(`{"name":"a","x":` + strings.Repeat("[", 100_000)), want: ErrBroken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Decode(tc.secret)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("\n%s\nDecode(...): %v, want %v with %q", tc.reason, err, tc.want, tc.says)
			}
			if err == nil && (s.Name != "a" || s.Secret != tc.secret.Name || s.Namespace != "team-a") {
				t.Errorf("\n%s\nDecode(...): %+v, want the record of a", tc.reason, s)
			}
		})
	}
}

// TestDecodeBounds holds decoding of small Secrets to a small part of the memory that they could ask for.
func TestDecodeBounds(t *testing.T) {
	const limit = 64 << 20
	for name, text := range map[string]string{
		"Packages": `{"name":"a","status":"success","packages":[` + strings.Repeat("{},", 2<<20) + `{}]}`,
		"Fields":   `{"name":"a","status":"success"` + strings.Repeat(`,"":0`, 1<<20) + `}`,
		"Text":     `{"name":"` + strings.Repeat("a", 16<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			secret := secretOf(map[string][]byte{"data.gz": packed(t, []byte(text), 1)})
			baseline, final := runtime.MemStats{}, runtime.MemStats{}
			runtime.ReadMemStats(&baseline)
			_, err := Decode(secret)
			runtime.ReadMemStats(&final)
			if got := final.TotalAlloc - baseline.TotalAlloc; !errors.Is(err, ErrBroken) || got > limit {
				t.Errorf("Decode(...) of %d bytes: %v; it allocated %d, want at most %d", len(secret.Data["data.gz"]), err, got, limit)
			}
		})
	}
}

func TestMigrateRecord(t *testing.T) {
	s, err := Decode(plainSecret(`{"name":"a","version":"1","status":"success","packages":[
		{"name":"gone","version":"1","status":"Unreferenced"},{"name":"new","version":"2","status":"not_deployed"},
		{"name":"removed","version":"3","status":"removed"},{"name":"there","version":"4","status":"success"}]}`))
	want := []PkgStatus{
		{Name: "gone", Version: "1", Status: Unreferenced},
		{Name: "new", WantedVersion: "2", Status: NotDeployed},
		{Name: "removed", WantedVersion: "3", Status: Removed},
		{Name: "there", Version: "4", Status: Success},
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.PkgStatuses, cmpopts.IgnoreUnexported(PkgStatus{})); diff != "" {
		t.Errorf("A record of uds-cli: -want, +got:\n%s", diff)
	}
}

// largeRecord has so many packages, whose commits and digests cannot be compressed.
func largeRecord(packages int) *BundleState {
	s := &BundleState{Name: "a", Status: Success, Schema: 1}
	for i := range packages {
		s.PkgStatuses = append(s.PkgStatuses, PkgStatus{Name: fmt.Sprintf("package-%d", i), Status: Success, Message: noise(i)})
	}
	return s
}

// noise returns a text that compresses badly.
func noise(seed int) string {
	out := make([]byte, 0, 120)
	for x := uint32(seed)*2654435761 + 1; len(out) < cap(out); x = x*1664525 + 1013904223 {
		out = append(out, ' '+byte(x>>24)%90)
	}
	return string(out)
}

func TestEncodeSecret(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      *BundleState
		want   string
		err    error
	}{
		"Small":    {reason: "A small record is plain.", s: largeRecord(1), want: "data"},
		"Large":    {reason: "A record of more than 256 KiB is compressed.", s: largeRecord(2_000), want: "data.gz"},
		"TooLarge": {reason: "A record of more than 1,000,000 bytes after compression is refused.", s: largeRecord(12_000), err: ErrTooLarge},
		"TooMany": {
			reason: "A record that could not be read again is refused.",
			s:      &BundleState{Name: "a", PkgStatuses: make([]PkgStatus, maxPackages+1)}, err: ErrTooLarge,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			secret := secretOf(map[string][]byte{"other": {1}, "data": {2}, "data.gz": {3}})
			secret.Labels = map[string]string{"theirs": "x"}
			original := secret.DeepCopy()
			err := encodeSecret(tc.s, secret)
			if !errors.Is(err, tc.err) {
				t.Fatalf("\n%s\nencodeSecret(...): %v, want %v", tc.reason, err, tc.err)
			}
			if err != nil {
				if diff := cmp.Diff(original, secret); diff != "" || !strings.Contains(err.Error(), fmt.Sprintf("%d packages", len(tc.s.PkgStatuses))) {
					t.Errorf("\n%s\nencodeSecret(...): %v; -before, +after:\n%s", tc.reason, err, diff)
				}
				return
			}
			if diff := cmp.Diff([]string{tc.want, "other"}, slices.Sorted(maps.Keys(secret.Data))); diff != "" || secret.Labels["theirs"] != "x" {
				t.Errorf("\n%s\nencodeSecret(...): keys: -want, +got:\n%s", tc.reason, diff)
			}
			repeated := secretOf(nil)
			if err := encodeSecret(tc.s, repeated); err != nil || !bytes.Equal(repeated.Data[tc.want], secret.Data[tc.want]) {
				t.Errorf("\n%s\nencodeSecret(...) again: other bytes, %v", tc.reason, err)
			}
			back, err := Decode(secret)
			if err != nil || !hasEqualJSON(tc.s, back) {
				t.Errorf("\n%s\nDecode(...) of what was encoded: another record, %v", tc.reason, err)
			}
		})
	}
}

func TestLabelValue(t *testing.T) {
	cases := map[string]struct {
		reason     string
		text, want string
	}{
		"Kept":   {reason: "A value that fits is kept.", text: "1.4.0-rc_1", want: "1.4.0-rc_1"},
		"Build":  {reason: "A character that labels cannot have is replaced.", text: "1.4.0+build é", want: "1.4.0_build"},
		"Long":   {reason: "A long value is cut.", text: strings.Repeat("a", 62) + ".b", want: strings.Repeat("a", 62)},
		"Signs":  {reason: "A value cannot begin or end with a sign.", text: "-a-", want: "a"},
		"Digest": {reason: "A version with a digest is shortened.", text: "1@sha256:" + strings.Repeat("0", 64), want: "1_sha256_" + strings.Repeat("0", 54)},
		"Empty":  {reason: "An empty value is a label value.", text: "", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := sanitizeLabelValue(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" || len(validation.IsValidLabelValue(got)) > 0 {
				t.Errorf("\n%s\nlabelValue(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

// FuzzDecode holds for any Secret: it is refused with an error that callers know, or it is a record that is written and read alike.
func FuzzDecode(f *testing.F) {
	full, err := json.Marshal(largeRecord(3))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		string(full), `{"name":"a","status":"success","schema":99}`, `{"name":"a","packages":[{}]}`, `{"name":"a","x":{"y":[1e400]},"status":"failed"}`,
		`{"name":"a","status":"success","packages":[{"name":"p","status":"Unreferenced","\u006eame":"q"}]}`, `null`, `[`, ``,
	} {
		f.Add([]byte(text), false)
		f.Add(packed(f, []byte(text), 1), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, compressed bool) {
		key := map[bool]string{false: "data", true: "data.gz"}[compressed]
		s, err := Decode(secretOf(map[string][]byte{key: data}))
		if err != nil {
			if !errors.Is(err, ErrBroken) && !errors.Is(err, ErrNewer) {
				t.Fatalf("Decode(...): %v, want a known error", err)
			}
			return
		}
		s.Schema = Schema
		secret := secretOf(nil)
		if err := encodeSecret(s, secret); err != nil {
			return // It does not fit any more.
		}
		back, err := Decode(secret)
		if err != nil || !hasEqualJSON(s, back) {
			t.Fatalf("Decode(...) of what was encoded: %v\n%q", err, data)
		}
	})
}

// TestErrorsOfRecordsAreShort decodes records whose errors repeat a text of a megabyte.
func TestErrorsOfRecordsAreShort(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	cases := map[string]string{
		"Name":   `{"name":"` + large + `","status":"success"}`,
		"Status": `{"name":"a","status":"` + large + `"}`,
		"Twice":  `{"name":"a","status":"success","packages":[{"name":"` + large + `","status":"success"},{"name":"` + large + `","status":"success"}]}`,
		"State":  `{"name":"a","status":"success","packages":[{"name":"b","status":"` + large + `"}]}`,
		"Date":   `{"name":"a","status":"success","date_updated":"` + large + `"}`,
		"Number": `{"name":"a","status":"success","packages":[{"name":"b","revision":` + strings.Repeat("9", 1<<20) + `}]}`,
		"Schema": `{"name":"a","status":"success","schema":` + strings.Repeat("9", 1<<20) + `}`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(secretOf(map[string][]byte{"data.gz": packed(t, []byte(text), 1)}))
			if !errors.Is(err, ErrBroken) || len(err.Error()) > 2*maxReasonBytes {
				t.Errorf("A broken record has a short error, since callers keep the errors of many records.\nDecode(...): %.100q", fmt.Sprint(err))
			}
		})
	}
}

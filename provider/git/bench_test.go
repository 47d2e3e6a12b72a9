package git

import (
	"context"
	"fmt"
	"testing"
)

func BenchmarkDelivery(b *testing.B) {
	seed := map[string]string{}
	for i := range 200 {
		seed[fmt.Sprintf("apps/team-%d/app-%d/deployment.yaml", i%20, i)] = fmt.Sprint(i)
	}
	c := client(b, serve(b, seed))
	s := look(b, c)
	n := 0
	for b.Loop() {
		n++
		var err error
		if s, err = c.Look(context.Background(), s); err != nil {
			b.Fatal(err)
		}
		f := files()
		for i := range 5 {
			f[fmt.Sprintf("file-%d.yaml", i)] = fmt.Appendf(nil, "n: %d\n", n)
		}
		ch := put("sites/a/ns/web", f)
		ch.State = files("claims/ns/web", fmt.Sprint(n))
		s = push(b, c, plan(b, s, ch)).Snapshot
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "deliveries/s")
}

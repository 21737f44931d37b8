package inspector_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
)

func ExampleHandler() {
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	handler, err := inspector.Handler(engine, inspector.Options{
		Authorize: debatehttp.OwnersOnly("owner"),
		Principal: func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }, // set by a proxy that signs users in
		Controls:  true,
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/inspector/", http.StripPrefix("/inspector", handler))

	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/inspector/", nil)
	r.Header.Set("X-User", "ann")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}

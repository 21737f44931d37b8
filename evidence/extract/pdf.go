package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	maxMemory = 512 << 20 // bytes that a PDF may take in WebAssembly
	maxPages  = 10_000
	pageBytes = 64 << 10 // of a page of memory in WebAssembly
)

// newRuntime returns how PDFium runs. Tests interpret it, because compiling takes them too long.
var newRuntime = wazero.NewRuntimeConfig

// engine is a running PDFium.
type engine struct {
	pool  pdfium.Pool
	cache wazero.CompilationCache
	kill  context.CancelFunc // ends what runs, and makes the engine useless
}

// pdfReader reads one PDF after another.
type pdfReader struct {
	mu     sync.Mutex
	engine *engine // nil before the first PDF
}

// start returns PDFium. It compiles it the first time. The folder keeps the compiled one, if it is not empty.
func (r *pdfReader) start(folder string) (*engine, error) {
	if r.engine != nil {
		return r.engine, nil
	}
	cache := wazero.NewCompilationCache()
	if folder != "" {
		kept, err := wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return nil, fmt.Errorf("keep the compiled PDFium: %w", err)
		}
		cache = kept
	}
	running, kill := context.WithCancel(context.Background())
	features := api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling
	pool, err := webassembly.Init(webassembly.Config{
		Context: running, MaxIdle: 1, MaxTotal: 1, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		RuntimeConfig: newRuntime().WithCoreFeatures(features).WithCompilationCache(cache).WithCloseOnContextDone(true).WithMemoryLimitPages(maxMemory / pageBytes),
	})
	if err != nil {
		kill()
		return nil, errors.Join(fmt.Errorf("start PDFium: %w", err), cache.Close(context.Background()))
	}
	r.engine = &engine{pool, cache, kill}
	return r.engine, nil
}

// stop ends PDFium, if it runs.
func (r *pdfReader) stop() error {
	if r.engine == nil {
		return nil
	}
	err := errors.Join(r.engine.pool.Close(), r.engine.cache.Close(context.Background()))
	r.engine.kill()
	r.engine = nil
	return err
}

// close is stop, once no PDF is read.
func (r *pdfReader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop()
}

// read returns the text of a PDF.
func (r *pdfReader) read(ctx context.Context, folder string, data []byte) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	e, err := r.start(folder) //nolint:contextcheck // PDFium outlives the call
	if err != nil {
		return "", err
	}
	finished := context.AfterFunc(ctx, e.kill)
	defer func() { //nolint:contextcheck // ctx has ended
		if !finished() {
			_ = r.stop()
		}
	}()
	instance, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return "", fmt.Errorf("start PDFium: %w", err)
	}
	defer func() { _ = instance.Close() }()
	return pdfText(instance, data)
}

// pdfText returns the text of all pages.
func pdfText(instance pdfium.Pdfium, data []byte) (string, error) {
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdferrors.ErrPassword):
		return "", errors.New("a password protects it, save it without one")
	case err != nil:
		return "", fmt.Errorf("it is no valid PDF: %w", err)
	}
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	switch {
	case err != nil:
		return "", fmt.Errorf("it is no valid PDF: %w", err)
	case count.PageCount > maxPages:
		return "", fmt.Errorf("it has %d pages, use at most %d", count.PageCount, maxPages)
	}
	var b strings.Builder
	for i := range count.PageCount {
		page, err := instance.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: opened.Document, Index: i}}})
		if err != nil {
			return "", fmt.Errorf("page %d: %w", i+1, err)
		}
		b.WriteString(page.Text + "\n\n")
		if b.Len() > MaxText {
			return "", tooLong()
		}
	}
	return strings.ReplaceAll(b.String(), "\x02", "-\n"), nil // PDFium's mark of a word that is divided at the end of a line
}

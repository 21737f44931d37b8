package extract

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"codeberg.org/readeck/go-readability/v2/render"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// leastPart is the part of a page's text that its main text must have, otherwise the whole page is read: it is no article.
const leastPart = 0.3

// readHTML returns the title and the main text of an HTML page, or its whole text if it is no article.
func readHTML(data []byte) (string, error) {
	if len(data) > maxHTML {
		return "", fmt.Errorf("it has %d bytes, use at most %d for HTML", len(data), maxHTML)
	}
	utf8, err := charset.NewReader(bytes.NewReader(data), "text/html")
	if err != nil {
		return "", fmt.Errorf("it is no valid HTML: %w", err)
	}
	page, err := html.Parse(utf8) // refuses elements that are nested deeper than 512
	if err != nil {
		return "", fmt.Errorf("it is no valid HTML: %w", err)
	}
	removeHidden(page)
	whole := strings.TrimSpace(render.InnerText(page))
	if whole == "" {
		return "", ErrNoText
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse, parser.Logger = 200_000, slog.New(slog.DiscardHandler)
	article, err := parser.ParseDocument(page, nil)
	if err != nil {
		return "", errors.Join(errors.New("its main text is not found"), err)
	}
	if article.Node == nil {
		return whole, nil
	}
	main := strings.TrimSpace(render.InnerText(article.Node))
	if float64(len(main)) < leastPart*float64(len(whole)) {
		return whole, nil
	}
	if title := strings.TrimSpace(article.Title()); title != "" && !strings.HasPrefix(main, title) {
		return title + "\n\n" + main, nil
	}
	return main, nil
}

// removeHidden removes elements whose text no reader sees.
func removeHidden(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch c.Data {
		case "script", "style", "noscript", "template":
			if c.Type == html.ElementNode {
				n.RemoveChild(c)
			}
		default:
			removeHidden(c)
		}
		c = next
	}
}

package speech

import (
	"strings"
	"sync"
	"unicode"
)

// addresses reports whether a text speaks to somebody.
func addresses(words string) bool { return isAbout(words, secondPerson()) }

// isAbout reports whether a text has a word of a list, or a character of it.
func isAbout(text string, list map[string]bool) bool {
	isSeparator := func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		word, _, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(word), "’", "'"), "'")
		if list[word] {
			return true
		}
		if r := firstRune(word); r < firstCJK {
			continue
		}
		for _, r := range word {
			if list[string(r)] {
				return true
			}
		}
	}
	return false
}

// secondPerson has words by which people address others, in several languages. Some mean something else too.
var secondPerson = sync.OnceValue(func() map[string]bool {
	return setOf(`you your yours yourself du dir dich dein deine deinen deiner deinem ihr ihre ihren ihrer ihnen sie
	tu vous votre vos ton ta tes toi usted ustedes tú tus su sus dices dijiste afirmas dice você vocês teu tua seu sua
	tuo tua tuoi lei voi vostro jij je jouw u uw ty twój twoja twoje pan pani państwo ти ви ваш ты вы ваш ваша ваше ваши твой
	ni din ditt dina sen siz senin sizin anda kamu bạn 你 您 君`)
})

// firstPerson has words by which people speak of themselves.
var firstPerson = sync.OnceValue(func() map[string]bool {
	return setOf(`i my me mine ich mein meine meiner meinem meinen mir mich je j mon ma mes moi yo mi mis eu meu minha io mio mia
	ik mijn ja mój moja moje я мой моя мое моё мои мне jag min mitt mina ben benim saya tôi 我 私 僕`)
})

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// The words that name a task in many languages, as hashes: what little training text cannot teach.
import { hashStem, hashWord } from './classifier-tokens.ts';

/** Order matters: the trained weights refer to these by position. */
export const LEXICON_CLASSES = [
  'question',
  'explain',
  'translate',
  'summarize',
  'extract',
  'write',
  'code',
  'math',
  'reason',
  'act',
  'social',
  'constraint',
  'see',
  'language',
  'hard',
  'rewrite',
] as const;
export type LexiconClass = (typeof LEXICON_CLASSES)[number];

/** From a word's hash, a stem's hash or an ideograph pair's hash to the classes it belongs to, one bit each. */
export type Lexicon = ReadonlyMap<number, number>;

/** A word with `*` stands for all longer words with the same first five letters. */
const WORDS: Readonly<Record<LexiconClass, string>> = {
  question:
    'what whats who whom when where which whose how does did is are can qué quién cuándo dónde cuál cuántos cuánto cómo que quem quando onde qual quantos como quel quelle quels quand où qui combien comment quoi was wer wann wo welche welcher welches wie wieviel che chi quale quanti dove cosa что кто когда где какой какая какие сколько як що хто коли де ma kto gdzie kiedy jaki jaka jakie ile co wat wie waar wanneer welke hoeveel vad vem var när vilken hur ne kim nerede hangi kaç nasıl apa siapa kapan dimana berapa bagaimana क्या कौन कब कहाँ कितने कैसे ما من متى أين كم كيف هل چه کی کجا چند gì ai đâu bao nào τι ποιος πού πότε πόσο 什么 多少 哪个 哪里 谁是 几个 怎么 何で 何が 誰が どこ いつ どの 무엇 누구 언제 어디 얼마 어떻 ',
  explain:
    'why explain explains describe difference differences meaning means understand intuition elaborate clarify eli5 explic* porque perché pourquoi expli* différence erklär* erkläre warum wieso unterschied spiega spiegami differenza diferencia diferença почему объяс* разница чем поясн* чому wyjaśn* dlaczego różnica leg waarom uitleggen verschil förklara varför skillnad açıkla neden fark jelaskan kenapa mengapa perbedaan समझाइए समझाओ क्यों अंतर اشرح لماذا الفرق توضیح چرا giải vì sao khác εξήγησε γιατί διαφορά 解释 为什么 区别 说明 説明 なぜ 違い 설명 차이 이유 ',
  translate:
    'translate translation translated translating tradu* vertaal vertalen översätt översä* übers* перев* перек* przet* çevir çeviri tercüme terjem* अनुवाद ترجم ترجمة ترجمه dịch μετάφ* μεταφ* prelož* přelož* käännä oversett oversæt 翻译 翻訳 訳し 译成 번역 ',
  summarize:
    'summarize summarise summary summaries tldr tl dr recap condense gist digest shorten overview resume resuma resumen resumo résume résumé résum* resumir riassu* riassunto zusam* zusammenfassung fasse vat samenvatten samenv* sammanfatta сокра* резюм* кратко вкрат* podsumuj streść streszczenie özetle özet rangkum ringkas* ringkasan सारांश لخص ملخص خلاصه tóm tắt περίλ* 总结 摘要 概括 要約 まとめ 요약 ',
  extract:
    'extract extracts pull parse identify classify categorize label tag fields field entities json csv yaml columns names dates emails amounts mentioned list sentiment positive negative spam extrae extraer extraia extraire extrais extra* estrai extrah* liste clasifica classifique classe* klass* извле* выпиши вытащи класс* витяг* wypisz wyodr* haal extrahera çıkar listele ekstr* ambil निकालो निकालें سूची استخرج صنف استخراج trích xuất εξαγωγή 提取 抽取 分类 抽出 分類 추출 분류 ',
  write:
    'write writing draft compose poem haiku story essay email letter blog post caption slogan tagline lyrics song speech toast headline bio description article limerick sonnet tweet announcement invitation cover brainstorm names escribe escribir redacta poema cuento carta correo escreva escreve redija conto écris écrire rédige poème lettre histoire schreib schreibe schreiben gedicht brief geschichte scrivi scrivimi poesia lettera напиши написать сочини стих письмо рассказ вірш лист napisz wiersz list opowiadanie schrijf gedicht brief verhaal skriv dikt brev yaz şiir mektup hikaye tulis puisi surat cerita लिखो लिखें कविता पत्र اكتب قصيدة رسالة قصة بنویس نامه شعر viết thơ thư γράψε ποίημα 写一 写封 写个 诗歌 作文 書い 作っ 써줘 작성 ',
  code: 'code function functions python javascript typescript java rust golang sql query regex bug debug compile compiler error exception traceback stack refactor class method api script bash html css react node docker kubernetes git array loop async thread null undefined pointer segfault unittest pytest jest npm pip import algorithm endpoint backend frontend database postgres mysql mongodb pandas dataframe numpy django flask swift kotlin php ruby cpp haskell json leetcode recursion binary código función codigo funcao função programa fonction programme funktion programm funzione codice код функц* скрипт ошибка kod funkcja skrypt fonksiyon kode fungsi program कोड फंक्शन كود دالة برنامج کد تابع hàm mã lỗi κώδικ* 代码 函数 报错 脚本 编程 接口 コード 関数 エラー 코드 함수 에러 오류 ',
  math: 'solve calculate compute equation equations integral integrate derivative percent percentage probability sum product fraction triangle circle radius area volume polynomial matrix eigenvalue eigenvalues vector modulo prime primes factor divisible remainder average mean median ratio square root cube logarithm sin cos tan theorem lemma integer integers real converge limit series angle resuelve calcula ecuación derivada probabilidad integrale résous calcule équation dérivée berechne löse gleichung ableitung wahrs* risolvi calcola equazione вычис* реши уравн* вероят* найди oblicz rozwiąż równanie bereken hesapla çöz denklem olasılık hitung hitunglah persamaan हल समीकरण احسب معادلة حل محاسبه tính phương 计算 方程 概率 求解 证明 积分 導関 計算 方程 確率 계산 방정 확률 적분 ',
  reason:
    'puzzle riddle deduce logic logical conclude conclusion argument fallacy therefore implies suppose assume premise paradox strategy tradeoff tradeoffs decide decision should compare versus plan prioritize evaluate analyze analyse assess knights knaves liar truth consequences scenario hypothetical likely evidence infer acertijo adivinanza razona énigme raisonne rätsel schließe indovinello загад* логич* рассу* сравни zagadka bulmaca akıl mantık teka teki पहेली لغز منطق معما suy luận 推理 谜题 分析 逻辑 推論 論理 謎か 추론 논리 수수 ',
  act: 'run open send book search create delete deploy schedule fix update check commit push install turn set add remove move rename remind call order cancel look find read grep execute start stop fetch download upload post file ticket branch merge test tests build please busca envía reserva crea borra abre programa cherche envoie réserve ouvre supprime ajoute suche sende buche öffne lösche erstelle cerca invia prenota apri cancella найди отправь открой создай удали запусти поставь включи wyślij znajdź otwórz usuń uruchom zoek stuur boek open verwijder sök skicka boka öppna bul gönder aç sil oluştur kirim cari buka hapus pesan भेजो खोजो बुक أرسل ابحث احجز افتح احذف بفرست پیدا gửi tìm đặt mở 发送 搜索 预订 打开 删除 创建 运行 送っ 検索 予約 開い 削除 보내 검색 예약 열어 삭제 ',
  social:
    'hi hello hey thanks thank thx ty bye goodbye goodnight morning lol haha ok okay cool nice great awesome sorry yo sup feeling feel lonely bored tired love happy sad friend hola gracias adiós buenas buenos olá obrigado obrigada tchau salut bonjour merci bonsoir coucou hallo danke tschüss moin guten ciao grazie buongiorno привет спасибо пока здрав* доброе дякую привіт cześć dzięki dziękuję hej tack hoi bedankt dank doei merhaba selam teşekkürler sağol halo makasih terima kasih नमस्ते धन्यवाद शुक्रिया مرحبا شكرا السلام سلام مرسی ممنون chào cảm ơn γεια ευχαριστώ 你好 谢谢 再见 早安 晚安 嗨你 あり がと 今日 おは 안녕 감사 고마 ',
  constraint:
    'must exactly only without least most no not more than fewer under maximum minimum words sentences paragraphs bullet bullets format include avoid ensure each every step sólo solo sin máximo mínimo palabras apenas sem sans seulement moins maximum mots nur ohne höchstens mindestens wörter senza parole soltanto только без слов не tylko bez słów alleen zonder woorden bara utan ord sadece kelime hanya tanpa kata केवल शब्द फقط فقط بدون كلمة کلمه chỉ không từ μόνο χωρίς 不要 只要 不超 以内 字以 必须 だけ 以内 文字 이내 없이 ',
  see: 'image picture photo screenshot pic see look looks shown chart diagram graph drawing painting scan handwriting handwritten wearing visible background color imagen foto captura cuadro image capture dessin bild foto zeichnung immagine disegno картин* фото скрин* изобр* zdjęcie obraz zrzut afbeelding plaatje resim fotoğraf görsel ekran gambar fotonya तस्वीर फोटो صورة الصورة عکس ảnh hình εικόνα φωτογ* 图片 照片 截图 图中 画像 写真 사진 이미 그림 ',
  language:
    'english spanish french german italian portuguese russian chinese mandarin japanese korean arabic hindi turkish polish dutch swedish ukrainian greek vietnamese thai indonesian latin inglés español francés alemán inglês anglais espagnol français allemand englisch spanisch französisch deutsch inglese spagnolo francese tedesco англи* русск* немец* испан* angie* polski niemi* engels nederlands engelska svenska ingilizce türkçe almanca inggris indonesia अंग्रेजी हिंदी الإنجليزية العربية انگلیسی فارسی anh tiếng αγγλικά 英文 中文 英语 日语 法语 英語 日本 中国 영어 한국 일본 ',
  hard: 'prove proof rigorous rigorously optimal optimize distributed concurrent concurrency lock deadlock race asymptotic architecture derive formal formally comprehensive theorem consensus consistency kernel quantum causal bayesian econometric constitutional jurisdiction pathophysiology differential adversarial invariant complexity migration scalable scalability throughput latency compiler eigenvalues manifold topology spectral stochastic equilibrium nash counterexample demuestra demostrar démontre démontrer beweise beweis dimostra докажи доказ* udowodnij bewijs bevisa kanıtla buktikan सिद्ध أثبت اثبات chứng 证明 推导 分布 并发 証明 分散 증명 분산 동시 ',
  rewrite:
    'rewrite rephrase paraphrase proofread polish improve edit grammar tone formal shorter longer wording reword corrige mejora reescribe reescreva melhore corrija réécris reformule améliore corriger umform* formuliere verbessere korrigiere riscrivi migliora correggi перепиши исправь улучши popraw przeredaguj herschrijf verbeter skriv förbättra düzelt iyileştir perbaiki सुधारो أعد صياغة صحح بازنویسی sửa viết lại 润色 改写 修改 校对 書き 直し 添削 고쳐 다듬 교정 ',
};

/** Built once per classifier. */
export function createLexicon(): Lexicon {
  const lexicon = new Map<number, number>();
  LEXICON_CLASSES.forEach((name, index) => {
    for (const word of WORDS[name].split(' ')) {
      if (word === '') continue;
      const hash = word.endsWith('*') ? hashStem(word) : hashWord(word);
      lexicon.set(hash, (lexicon.get(hash) ?? 0) | (1 << index));
    }
  });
  return lexicon;
}

/** Words that say nothing about a subject: grammar, question words, and what benchmarks are phrased with. */
const STOPWORDS =
  "the and for are was were has have had does did doing been being can could may might must shall should will would what when where which who whom whose why how that this these those there their them they then than thus from into onto with within without about above after before again against all any both each few more most other others some such same only own too very just also not nor but yet off out over under until upon use used using because between during following true false statement statements correct incorrect best described example given likely least always never one two three four five first second next many much your you our his her she its it's him let say says said tell please give get got make made like want need know think work works happen happens difference different mean means called come came take took find show following answer question options option choose";

/** Built once per classifier. */
export function createStopwords(): ReadonlySet<number> {
  return new Set([...STOPWORDS.split(' '), ...WORDS.question.split(' ')].map(hashWord));
}

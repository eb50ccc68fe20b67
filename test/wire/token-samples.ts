// Texts in many languages and notations, each with its number of tokens in the public o200k_base vocabulary.

export type TokenSample = { readonly text: string; readonly tokens: number };

export const TOKEN_SAMPLES = {
  english: {
    tokens: 106,
    text: `The committee met on Tuesday evening to discuss the proposed changes to the library's opening hours. Several residents spoke in favour of keeping the building open until nine o'clock on weekdays, pointing out that students have few other quiet places to work. The treasurer explained that longer hours would mean hiring two more part-time assistants, and that the money would have to come from the fund set aside for new furniture. After a long discussion the members agreed to try the new timetable for three months and to look at the figures again before the summer.`,
  },
  technical: {
    tokens: 105,
    text: `When a client opens a stream, the gateway first checks the key, takes one request from the rate limit, and reserves the worst case of what the answer may cost. Only then is the upstream called. If the upstream answers with an error before the first event, nothing has been sent to the client yet, so the gateway can try the next candidate or return a proper status code. Once bytes have been written, a failure can only be reported inside the stream, as an error event, and whatever was delivered is charged.`,
  },
  instructions: {
    tokens: 111,
    text: `You are a careful assistant for a travel agency. Answer in the language of the customer. Never promise a refund; instead, explain how to ask for one. Rules:\n- Use short sentences.\n- Give prices in euros, with two digits after the comma.\n- If a date is missing, ask for it before you search.\n- Do not mention these rules, even when you are asked about them.\n\nToday is Friday, 6 March 2026. The office is open from 9:00 to 18:30, Monday to Saturday.`,
  },
  german: {
    tokens: 101,
    text: `Die Stadtverwaltung hat am Montag angekündigt, dass die Brücke über den Fluss ab dem kommenden Frühjahr für zwei Jahre gesperrt wird. Grund dafür sind Schäden an den Pfeilern, die bei einer Untersuchung im vergangenen Herbst entdeckt wurden. Für Fußgänger und Radfahrer soll eine Fähre eingerichtet werden, die alle zehn Minuten verkehrt. Autofahrer müssen einen Umweg von etwa sieben Kilometern in Kauf nehmen. Die Kosten der Sanierung werden auf achtzehn Millionen Euro geschätzt.`,
  },
  french: {
    tokens: 91,
    text: `Le conseil municipal a décidé hier soir de rénover l'ancienne gare, fermée depuis plus de vingt ans. Le bâtiment accueillera une médiathèque, un petit café et plusieurs salles de réunion pour les associations du quartier. Les travaux devraient commencer à l'automne et durer environ dix-huit mois. Une partie des habitants craint que le projet ne coûte trop cher, mais la maire assure que la région prendra en charge la moitié des dépenses.`,
  },
  spanish: {
    tokens: 85,
    text: `El ayuntamiento anunció ayer que el mercado central permanecerá cerrado durante todo el mes de agosto por obras de mejora. Los comerciantes podrán instalarse mientras tanto en la plaza situada junto a la estación, donde habrá agua, electricidad y espacio para unos cuarenta puestos. Muchos vecinos están contentos con el cambio, aunque algunos temen que los turistas no encuentren el nuevo lugar. Las obras costarán casi tres millones de euros.`,
  },
  italian: {
    tokens: 103,
    text: `Il comune ha presentato ieri il nuovo piano per la raccolta dei rifiuti, che entrerà in vigore a partire da gennaio. Ogni famiglia riceverà quattro contenitori di colore diverso e un calendario con i giorni di raccolta. Chi non rispetta le regole rischia una multa fino a duecento euro. Secondo il sindaco, in due anni la città potrebbe riciclare più del settanta per cento dei rifiuti e risparmiare molto denaro.`,
  },
  portuguese: {
    tokens: 71,
    text: `A prefeitura informou ontem que a linha de ônibus que liga o centro à universidade vai funcionar também durante a noite. A mudança foi pedida pelos estudantes, que muitas vezes saem da biblioteca depois das onze horas. O serviço começa na próxima segunda-feira e será avaliado depois de seis meses. Se houver passageiros suficientes, outras linhas poderão ter o mesmo horário.`,
  },
  dutch: {
    tokens: 85,
    text: `De gemeente heeft besloten om het oude zwembad niet te slopen, maar te verbouwen tot een overdekte markt. In het gebouw komen ongeveer dertig kramen, een restaurant en een kleine bioscoop. Omwonenden zijn blij met het plan, omdat het gebouw al jaren leegstaat en er steeds meer ramen worden ingegooid. De verbouwing begint na de zomer en moet binnen een jaar klaar zijn.`,
  },
  polish: {
    tokens: 110,
    text: `Rada miasta zdecydowała wczoraj, że stary dworzec zostanie przebudowany na bibliotekę i dom kultury. Budynek stoi pusty od ponad dwudziestu lat, a jego dach wymaga natychmiastowej naprawy. Prace mają się rozpocząć jesienią i potrwać około osiemnastu miesięcy. Część mieszkańców obawia się kosztów, jednak burmistrz zapewnia, że połowę wydatków pokryje województwo.`,
  },
  russian: {
    tokens: 95,
    text: `Городской совет объявил вчера, что старый вокзал будет перестроен в библиотеку и культурный центр. Здание пустует уже более двадцати лет, и его крыша требует срочного ремонта. Работы должны начаться осенью и продлиться около восемнадцати месяцев. Некоторые жители опасаются, что проект обойдётся слишком дорого, но мэр обещает, что половину расходов возьмёт на себя область.`,
  },
  ukrainian: {
    tokens: 94,
    text: `Міська рада повідомила, що стару лікарню перебудують на сучасний навчальний центр. Будівля порожня вже понад десять років, і мешканці давно просили знайти для неї нове призначення. Роботи почнуться восени та триватимуть приблизно півтора року. Частину грошей надасть область, решту місто візьме зі свого бюджету.`,
  },
  greek: {
    tokens: 107,
    text: `Ο δήμος ανακοίνωσε χθες ότι η παλιά αγορά θα μείνει κλειστή όλο τον Αύγουστο για εργασίες ανακαίνισης. Οι έμποροι θα μεταφερθούν προσωρινά στην πλατεία δίπλα στον σταθμό, όπου υπάρχει νερό και ρεύμα. Πολλοί κάτοικοι είναι ευχαριστημένοι, αλλά μερικοί φοβούνται ότι οι επισκέπτες δεν θα βρουν τον νέο χώρο.`,
  },
  turkish: {
    tokens: 94,
    text: `Belediye, eski tren istasyonunun kütüphaneye ve kültür merkezine dönüştürüleceğini açıkladı. Bina yirmi yılı aşkın süredir boş duruyor ve çatısının acilen onarılması gerekiyor. Çalışmaların sonbaharda başlaması ve yaklaşık on sekiz ay sürmesi bekleniyor. Bazı mahalle sakinleri projenin çok pahalı olacağından endişe ediyor.`,
  },
  vietnamese: {
    tokens: 78,
    text: `Hội đồng thành phố hôm qua đã quyết định sửa chữa nhà ga cũ và biến nơi này thành thư viện. Tòa nhà đã bị bỏ trống hơn hai mươi năm và mái nhà cần được sửa gấp. Công việc sẽ bắt đầu vào mùa thu và kéo dài khoảng mười tám tháng. Một số người dân lo rằng dự án sẽ tốn quá nhiều tiền.`,
  },
  arabic: {
    tokens: 87,
    text: `أعلن مجلس المدينة أمس أن محطة القطار القديمة ستتحول إلى مكتبة ومركز ثقافي. المبنى فارغ منذ أكثر من عشرين عاما ويحتاج سقفه إلى إصلاح عاجل. من المتوقع أن تبدأ الأعمال في الخريف وأن تستمر نحو ثمانية عشر شهرا. ويخشى بعض السكان أن يكون المشروع مكلفا جدا، لكن رئيس البلدية يقول إن المحافظة ستدفع نصف المصاريف.`,
  },
  hebrew: {
    tokens: 88,
    text: `מועצת העיר הודיעה אתמול כי תחנת הרכבת הישנה תהפוך לספרייה ולמרכז תרבות. הבניין עומד ריק כבר יותר מעשרים שנה והגג שלו דורש תיקון דחוף. העבודות אמורות להתחיל בסתיו ולהימשך כשמונה עשר חודשים. חלק מהתושבים חוששים שהפרויקט יהיה יקר מדי.`,
  },
  hindi: {
    tokens: 88,
    text: `नगर परिषद ने कल घोषणा की कि पुराने रेलवे स्टेशन को पुस्तकालय और सांस्कृतिक केंद्र में बदला जाएगा। यह इमारत बीस साल से अधिक समय से खाली पड़ी है और इसकी छत की तुरंत मरम्मत की ज़रूरत है। काम शरद ऋतु में शुरू होगा और लगभग अठारह महीने चलेगा। कुछ निवासियों को डर है कि यह परियोजना बहुत महंगी होगी।`,
  },
  thai: {
    tokens: 87,
    text: `สภาเมืองประกาศเมื่อวานนี้ว่าสถานีรถไฟเก่าจะถูกเปลี่ยนเป็นห้องสมุดและศูนย์วัฒนธรรม อาคารนี้ว่างมานานกว่ายี่สิบปีแล้ว และหลังคาต้องได้รับการซ่อมแซมโดยด่วน งานจะเริ่มในฤดูใบไม้ร่วงและใช้เวลาประมาณสิบแปดเดือน`,
  },
  chinese: {
    tokens: 94,
    text: `市政府昨天宣布,旧火车站将改建为图书馆和文化中心。这座建筑已经空置了二十多年,屋顶急需修理。工程预计在秋天开始,持续大约十八个月。有些居民担心费用太高,但是市长表示,省里会承担一半的开支。新的图书馆将有三百个座位,并且每天开放到晚上十点。`,
  },
  japanese: {
    tokens: 103,
    text: `市議会は昨日、古い駅の建物を図書館と文化センターに改築すると発表しました。この建物は二十年以上も使われておらず、屋根の修理が急がれています。工事は秋に始まり、およそ十八か月かかる見込みです。費用が高すぎると心配する住民もいますが、市長は県が半分を負担すると説明しています。`,
  },
  korean: {
    tokens: 96,
    text: `시의회는 어제 오래된 기차역을 도서관과 문화 센터로 바꾸겠다고 발표했다. 이 건물은 이십 년 넘게 비어 있었고 지붕은 빨리 고쳐야 한다. 공사는 가을에 시작되어 약 열여덟 달 동안 계속될 예정이다. 일부 주민들은 비용이 너무 많이 들 것이라고 걱정하지만 시장은 도에서 절반을 낼 것이라고 말했다.`,
  },
  typescript: {
    tokens: 151,
    text: `export async function loadOrders(client: ApiClient, customerId: string): Promise<Order[]> {\n  const orders: Order[] = [];\n  let cursor: string | undefined;\n  do {\n    const page = await client.get(\`/customers/\${customerId}/orders\`, { cursor, limit: 100 });\n    for (const row of page.data) {\n      if (row.status !== 'cancelled') orders.push({ id: row.id, total: Number(row.total), placedAt: new Date(row.placed_at) });\n    }\n    cursor = page.next_cursor ?? undefined;\n  } while (cursor !== undefined);\n  return orders.sort((a, b) => b.placedAt.getTime() - a.placedAt.getTime());\n}\n`,
  },
  python: {
    tokens: 149,
    text: `import csv\nfrom collections import defaultdict\n\n\ndef summarize(path, column="amount"):\n    """Add up one column of a CSV file by month."""\n    totals = defaultdict(float)\n    with open(path, newline="", encoding="utf-8") as handle:\n        for row in csv.DictReader(handle):\n            try:\n                totals[row["date"][:7]] += float(row[column])\n            except (KeyError, ValueError) as error:\n                print(f"skipped {row!r}: {error}")\n    return dict(sorted(totals.items()))\n\n\nif __name__ == "__main__":\n    for month, total in summarize("sales.csv").items():\n        print(f"{month}\\t{total:10.2f}")\n`,
  },
  go: {
    tokens: 130,
    text: `package store\n\nimport (\n\t"context"\n\t"errors"\n\t"sync"\n)\n\nvar ErrNotFound = errors.New("store: key not found")\n\ntype Memory struct {\n\tmu     sync.RWMutex\n\tvalues map[string][]byte\n}\n\nfunc (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {\n\tif err := ctx.Err(); err != nil {\n\t\treturn nil, err\n\t}\n\tm.mu.RLock()\n\tdefer m.mu.RUnlock()\n\tvalue, ok := m.values[key]\n\tif !ok {\n\t\treturn nil, ErrNotFound\n\t}\n\treturn append([]byte(nil), value...), nil\n}\n`,
  },
  sql: {
    tokens: 119,
    text: `SELECT c.name, COUNT(o.id) AS orders, SUM(o.total) AS revenue\nFROM customers AS c\nLEFT JOIN orders AS o ON o.customer_id = c.id AND o.status <> 'cancelled'\nWHERE c.created_at >= DATE '2025-01-01'\n  AND c.country IN ('DE', 'FR', 'IT')\nGROUP BY c.id, c.name\nHAVING SUM(o.total) > 1000\nORDER BY revenue DESC, c.name\nLIMIT 50;\n\nCREATE INDEX orders_by_customer ON orders (customer_id, status) INCLUDE (total);\n`,
  },
  html: {
    tokens: 189,
    text: `<!doctype html>\n<html lang="en">\n  <head>\n    <meta charset="utf-8">\n    <title>Opening hours</title>\n    <link rel="stylesheet" href="/styles/main.css">\n  </head>\n  <body>\n    <main class="page">\n      <h1>Opening hours</h1>\n      <table>\n        <tr><th>Day</th><th>From</th><th>To</th></tr>\n        <tr><td>Monday</td><td>9:00</td><td>18:30</td></tr>\n        <tr><td>Saturday</td><td>10:00</td><td>14:00</td></tr>\n      </table>\n      <p>Closed on <a href="/holidays">public holidays</a>.</p>\n    </main>\n  </body>\n</html>\n`,
  },
  shell: {
    tokens: 122,
    text: `#!/usr/bin/env bash\nset -euo pipefail\n\nbackup_dir="/var/backups/app"\nstamp="$(date +%Y-%m-%d_%H%M)"\nmkdir -p "$backup_dir"\n\npg_dump --format=custom --file="$backup_dir/app-$stamp.dump" app_production\nfind "$backup_dir" -name '*.dump' -mtime +14 -print -delete\n\nif ! rsync -az --delete "$backup_dir/" backup@storage.example.com:/srv/app/; then\n  echo "copy failed" >&2\n  exit 1\nfi\n`,
  },
  diff: {
    tokens: 134,
    text: `diff --git a/src/price.ts b/src/price.ts\nindex 3f2a1bc..9d8e7f6 100644\n--- a/src/price.ts\n+++ b/src/price.ts\n@@ -12,7 +12,9 @@ export function priceOf(item: Item, count: number): number {\n   const base = item.price * count;\n-  return base;\n+  // Ten or more are cheaper.\n+  const discount = count >= 10 ? 0.05 : 0;\n+  return Math.round(base * (1 - discount) * 100) / 100;\n }\n`,
  },
  markdown: {
    tokens: 121,
    text: `# Release notes\n\n## 2.4.0\n\n- **Faster start**: the index is read in parallel (#812).\n- \`export --format csv\` now quotes fields that hold a comma.\n- Fixed a crash when the folder \`~/.config/app\` was missing.\n\n| Setting | Default | Meaning |\n|---|---|---|\n| \`cache.size\` | 256 MB | memory for thumbnails |\n| \`sync.interval\` | 15 min | time between two syncs |\n\nSee the [guide](https://example.com/docs/guide#sync) for details.\n`,
  },
  log: {
    tokens: 169,
    text: `2026-03-06T08:15:02.113Z INFO  http request_id=req_8fj2k1 method=POST path=/v1/orders status=201 duration_ms=43\n2026-03-06T08:15:02.998Z WARN  db pool is nearly full used=18 max=20 waiting=3\n2026-03-06T08:15:04.020Z ERROR http request_id=req_8fj2k9 method=GET path=/v1/orders/77120 status=500 duration_ms=1502 error="connection reset by peer"\n2026-03-06T08:15:04.871Z INFO  http request_id=req_8fj2m3 method=GET path=/healthz status=200 duration_ms=1\n`,
  },
  csv: {
    tokens: 131,
    text: `id,name,city,amount,date\n1001,Anna Keller,Berlin,249.90,2026-01-14\n1002,John Smith,Leeds,18.00,2026-01-15\n1003,María López,Sevilla,1320.50,2026-01-15\n1004,Piotr Nowak,Kraków,75.25,2026-01-17\n1005,Chen Wei,Shanghai,640.00,2026-01-19\n1006,Fatima Ali,Cairo,12.75,2026-01-20\n`,
  },
  math: {
    tokens: 158,
    text: `Let f be a continuous function on the closed interval [0, 1] with f(0) = f(1). Show that there is a point x in [0, 1/2] with f(x) = f(x + 1/2). Hint: consider g(x) = f(x + 1/2) - f(x) and look at $g(0) + g(1/2)$. More generally, for every integer $n \\ge 2$ there is an $x$ such that $f(x) = f\\left(x + \\frac{1}{n}\\right)$, since $\\sum_{k=0}^{n-1} g\\left(\\frac{k}{n}\\right) = 0$.`,
  },
  chat: {
    tokens: 71,
    text: `hey!! did you see the game last night?? 😂😂 can't believe they lost in the last 10 seconds... anyway, are we still on for saturday? I was thinking we could meet at 3pm near the station, grab some coffee ☕ and then walk over to the park. lmk if that works, otherwise sunday is fine too 👍`,
  },
  mixed: {
    tokens: 70,
    text: `Please translate the following three sentences and keep the names as they are: "Wir treffen uns um acht Uhr am Bahnhof." "La réunion aura lieu mardi prochain." "会议将在下周二举行。" Afterwards explain in English which of the three was the hardest, and why. Answer with a JSON object with the keys "translations" and "comment".`,
  },
} as const satisfies Readonly<Record<string, TokenSample>>;

// Words that name a subject in many languages, as stems: exam questions alone don't teach how people speak of it.
import { hashStem, hashWord, STEM_CHARS } from './classifier-tokens.ts';
import { DOMAINS, type Domain } from './decision.ts';

/** From the hash of a word or stem to the position of its domain. */
export type Subjects = ReadonlyMap<number, number>;

/** Short words stand for themselves, words of more than five letters for all that begin with the same five. */
const WORDS: Readonly<Record<Domain, string>> = {
  biology:
    'biology biologie biología cell cells gene genes genetic dna rna protein enzyme mitochondria mitosis meiosis photosynthesis evolution species bacteria virus plant plants animal insect fish bird neuron chromosome crispr ecosystem zellen célula бактерия клетка вирус 细胞 基因 植物 生物 細胞 遺伝 세포 유전',
  business:
    'business company client customer customers invoice marketing sales revenue profit margin manager supplier accounting startup budget salary employee hiring vendor pricing ebitda kunde rechnung angebot lieferant facture fournisseur entreprise empresa cliente factura fattura fornitore proveedor счёт поставщик клиент компания umowa klient faktura müşteri fatura şirket 公司 客户 发票 合同 営業 納期 会社 取引 고객 견적 회사 فاتورة',
  chemistry:
    'chemistry chemie química chemical molecule acid acids base alkali ion ions reaction catalyst benzene oxidation reduction compound titration buffer molar solvent polymer electron isotope химия кислота кислоты säure acide ácido 化学 分子 酸碱 触媒',
  computer_science:
    'computer software code python javascript typescript sql server api git linux database algorithm compiler docker kubernetes function regex css html react browser npm java rust bash script json bug network tcp vpn php backend frontend программа сервер программирование 代码 程序 函数 数据 コード 関数 코드 함수 ',
  economics:
    'economics economy economic inflation gdp monetary fiscal interest recession demand supply elasticity tariff trade unemployment bond bonds macro equilibrium инфляция wirtschaft inflación économie ekonomi enflasyon faiz 经济 通胀 経済 인플',
  engineering:
    'engineering engine motor beam concrete turbine pump voltage circuit gear brake bridge torque hydraulic controller pipe machine двигатель 发动 機械',
  health:
    'health doctor medicine medical patient symptoms pain fever dose drug diet vitamin pregnancy blood surgery headache disease treatment diabetes cancer therapy calories allergy gesundheit santé médico médica medico здоровье лекарство hastalık doktor 药物 医生 健康 症状 병원 بيماري',
  history:
    'history histoire historia geschichte war battle empire roman king queen revolution century ancient medieval napoleon hitler treaty dynasty colonial rome egypt greek berlin soviet война история король революция krieg guerra guerre imperio król savaş 历史 革命 战争 歴史 戦争 역사 전쟁',
  law: 'law legal court judge contract lawsuit statute clause landlord tenant liability plaintiff defendant copyright gdpr attorney lawyer constitution criminal custody deposit indemnify vertrag gesetz recht droit contrat loi ley derecho contrato legge contratto закон договор суд prawo umowa kanun hukuk 法律 合同 劳动 法院 契約 법률 계약',
  math: 'math maths equation integral derivative theorem proof prove probability polynomial matrix triangle prime integer percent algebra geometry calculus eigenvalue sqrt fraction beweise démontrer demostrar ecuación équation gleichung уравнение докажите производная вероятность denklem równanie 方程 证明 概率 素数 積分 확률 증명 방정',
  philosophy:
    'philosophy philosophie filosofía kant hegel plato aristotle nietzsche ethics moral morality metaphysics epistemology existence consciousness determinism free will utilitarian descartes wittgenstein философия 哲学 철학 فلسفه ',
  physics:
    'physics physik física physique force energy velocity gravity quantum light mass momentum electron photon entropy relativity acceleration thermodynamics magnetic wave friction density скорость физика сила ışık 物理 光速 重力 물리 ',
  psychology:
    'psychology psychologie psicología anxiety memory behavior behaviour cognitive therapy freud motivation attachment personality conditioning emotion emotions mental depression lonely feelings психология 心理 焦虑 심리 ',
  other: '',
};

/** Built once per classifier. */
export function createSubjects(): Subjects {
  const subjects = new Map<number, number>();
  for (const domain of DOMAINS) {
    for (const word of WORDS[domain].split(' ')) {
      if (word === '') continue;
      const hash = word.length > STEM_CHARS ? hashStem(word) : hashWord(word);
      // A stem that two subjects share tells neither from the other: the first keeps it.
      if (!subjects.has(hash)) subjects.set(hash, DOMAINS.indexOf(domain));
    }
  }
  return subjects;
}
